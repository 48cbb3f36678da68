/** The report for people: a line a case, and all there is to know of each failure. */
import {
  type CaseReport,
  type Failure,
  type FileReport,
  failuresOf,
  type ScenarioReport,
} from '../run/report.ts';

/** The colours of the stream that it goes to. */
export interface Paint {
  red: (text: string) => string;
  green: (text: string) => string;
  yellow: (text: string) => string;
  dim: (text: string) => string;
  bold: (text: string) => string;
}

export const fileText = ({ file, cases }: FileReport, paint: Paint): string =>
  cases.map((one) => caseText(file, one, paint)).join('\n');

function caseText(file: string, one: CaseReport, paint: Paint): string {
  const mark = {
    passed: paint.green('passed'),
    failed: paint.red('FAILED'),
    skipped: paint.yellow('skipped'),
  };
  const took = `${(one.durationMs / 1_000).toFixed(1)} s`;
  const head = `${mark[one.status]}  ${one.name}  ${paint.dim(`${file}, ${took}`)}`;
  return [
    head,
    ...(one.reason === null ? [] : [`  ${one.reason}`]),
    ...one.steps
      .filter(({ status }) => status === 'skipped')
      .map(({ name, line, reason }) => paint.dim(`  skipped ${file}:${line}  ${name}: ${reason}`)),
    ...failuresOf(one).map((failure) => failureText(failure, paint)),
    ...keptLines(one, paint),
  ].join('\n');
}

/** How the moment of the failure is opened again. */
const keptLines = ({ kept }: CaseReport, paint: Paint): string[] =>
  kept
    ? [
        ...(kept.snapshot === null
          ? []
          : [`    ${paint.dim('reopen  ')}  rewards serve --ephemeral --import ${kept.snapshot}`]),
        ...(kept.requests === null ? [] : [`    ${paint.dim('requests')}  ${kept.requests}`]),
        ...(kept.problem === null ? [] : [`    ${paint.dim('not kept')}  ${kept.problem}`]),
      ]
    : [];

/** Place, line and caret, then each difference, the decision, and the request for a shell. */
export function failureText(failure: Failure, paint: Paint): string {
  const lines = [`  ${paint.bold(placeText(failure))}  ${failure.message}`, ...excerpt(failure, paint)];
  for (const one of failure.differences) {
    const where = placeText(one) === placeText(failure) ? '' : `  ${paint.dim(placeText(one))}`;
    lines.push(
      `    ${one.what || 'it'}${where}`,
      `      ${paint.dim('expected')}  ${paint.green(one.expected)}`,
      `      ${paint.dim('got     ')}  ${paint.red(one.got)}`,
    );
  }
  if (failure.decision !== null) lines.push(`    ${paint.dim('decision')}  ${failure.decision}`);
  if (failure.curl !== null) lines.push(`    ${paint.dim('again   ')}  ${failure.curl}`);
  return lines.join('\n');
}

export const placeText = ({ file, line, col }: { file: string; line: number; col: number }) =>
  `${file}:${line}:${col}`;

const SOURCE_MAX = 200;

/** The line that is meant, with a caret under the place. */
export function excerpt(
  { line, col, source }: { line: number; col: number; source: string },
  paint: Paint,
): string[] {
  if (source.length > SOURCE_MAX || source.trim() === '') return [];
  const number = String(line);
  return [
    `    ${paint.dim(`${number} |`)} ${source}`,
    `    ${' '.repeat(number.length)} ${paint.dim('|')} ${' '.repeat(col - 1)}${paint.red('^')}`,
  ];
}

export function summaryText({ totals, durationMs }: ScenarioReport, paint: Paint): string {
  const counts = [
    totals.failed > 0 ? paint.red(`${totals.failed} failed`) : undefined,
    `${totals.passed} passed`,
    totals.skipped > 0 ? `${totals.skipped} skipped` : undefined,
  ].filter(Boolean);
  return `${counts.join(', ')} in ${(durationMs / 1_000).toFixed(1)} s`;
}

/** Without colours, for files. */
export const plain: Paint = Object.fromEntries(
  ['red', 'green', 'yellow', 'dim', 'bold'].map((name) => [name, (text: string) => text]),
) as unknown as Paint;
