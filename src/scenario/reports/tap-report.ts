/** The report as TAP 14: a case is a test, with its steps as a subtest. */
import {
  type CaseReport,
  type Failure,
  failuresOf,
  type ScenarioReport,
  type StepReport,
} from '../run/report.ts';
import { placeText } from './text-report.ts';

export function tapReport({ files }: ScenarioReport): string {
  const cases = files.flatMap(({ file, cases }) => cases.map((one) => ({ file, one })));
  const lines = ['TAP version 14', `1..${cases.length}`];
  for (const [place, { file, one }] of cases.entries()) {
    const title = `${escaped(one.name)} (${escaped(file)})`;
    lines.push(`# Subtest: ${title}`, ...stepLines(one.steps).map((line) => `    ${line}`));
    lines.push(`${one.status === 'failed' ? 'not ok' : 'ok'} ${place + 1} - ${title}${skipOf(one)}`);
    if (one.failure) lines.push(...diagnostics(one.failure, one.durationMs));
    else if (one.status === 'failed') lines.push(...failedCase(one));
  }
  return `${lines.join('\n')}\n`;
}

const skipOf = ({ status, reason }: Pick<CaseReport, 'status' | 'reason'>) =>
  status === 'skipped' ? ` # SKIP ${escaped(reason ?? '')}` : '';

function stepLines(steps: readonly StepReport[]): string[] {
  return [
    `1..${steps.length}`,
    ...steps.flatMap((step, place) => [
      ...(step.steps.length > 0
        ? [`# Subtest: ${escaped(step.name)}`, ...stepLines(step.steps).map((line) => `    ${line}`)]
        : []),
      `${step.status === 'failed' ? 'not ok' : 'ok'} ${place + 1} - ${escaped(step.name)}${skipOf(step)}`,
      ...(step.failure ? diagnostics(step.failure, step.durationMs) : []),
    ]),
  ];
}

const failedCase = (one: CaseReport): string[] => {
  const [first] = failuresOf(one);
  return first ? diagnostics(first, one.durationMs) : [];
};

/** A block of YAML; JSON texts are YAML. */
function diagnostics(failure: Failure, durationMs: number): string[] {
  const text = (value: string | null) => JSON.stringify(value);
  return [
    '  ---',
    `  message: ${text(failure.message)}`,
    `  at: ${text(placeText(failure))}`,
    `  duration_ms: ${durationMs}`,
    ...(failure.differences.length > 0 ? ['  differences:'] : []),
    ...failure.differences.flatMap((one) => [
      `    - what: ${text(one.what)}`,
      `      expected: ${text(one.expected)}`,
      `      got: ${text(one.got)}`,
    ]),
    ...(failure.decision === null ? [] : [`  decision: ${text(failure.decision)}`]),
    ...(failure.curl === null ? [] : [`  curl: ${text(failure.curl)}`]),
    '  ...',
  ];
}

const escaped = (text: string) =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll('#', '\\#')
    .replace(/[\r\n]+/g, ' ');
