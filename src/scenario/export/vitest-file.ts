/** A scenario as a test file for Vitest, on `rewards/testing`. */
import { parseDuration } from '../../lib/duration.ts';
import { matrixRows } from '../format/read-scenario.ts';
import { everyStep, type Scenario, type Step } from '../format/scenario.ts';
import { helpers, values } from './helpers.ts';
import { createNames, type Known, type Remark, type Unsayable } from './known.ts';
import { linesOf, quoted, type Source, type Statement, valueSource } from './source.ts';
import { namedDecisions, statementsOf } from './step-statements.ts';

export interface Exported {
  code: string;
  /** What the test says in another way than the scenario. */
  notes: Remark[];
}

export interface ExportWish {
  /** Paths of fixtures, for the folder in which the tests run. */
  seedFiles: string[];
}

/** Many repetitions and moves of the clock take longer than the five seconds of Vitest. */
const TEST_TIMEOUT = '120_000';

/** The file; or what of the scenario has no form in a test. */
export function vitestFile(scenario: Scenario, wish: ExportWish): Exported | { problems: Unsayable[] } {
  const { data, steps, always } = scenario;
  const known: Known = {
    scenario,
    notes: [],
    problems: [],
    uses: new Set(),
    seen: new Map(),
    repeat: 'repeat',
    decisions: namedDecisions([...steps, ...always]),
    // What the test declares is unknown to what runs after it.
    atTop: always.length === 0,
    freshName: createNames(),
  };
  const main = statementsOf(known, steps);
  const last = statementsOf(known, always);
  if (known.problems.length > 0) return { problems: known.problems };
  if (data.secret && data.secret.length > 0) {
    const { line } = scenario.placeOf(['secret'], 'key');
    known.notes.push({ line, message: `what a test prints is not hidden: ${data.secret.join(', ')}` });
  }
  const body: Statement[] = [...beginning(known, wish), ...ending(last), '', ...main];
  const functions = [...known.uses].flatMap((name) => helpers[name] ?? []);
  const test = linesOf(testStatements(scenario, body));
  const words = ['expect', 'onTestFinished', 'test'].filter(
    (word) => word !== 'expect' || test.some((line) => /\bexpect\(/.test(line)),
  );
  const lines = [
    ...heading(known, wish),
    `import { ${words.join(', ')} } from 'vitest';`,
    '',
    ...test,
    ...functions.flatMap((text) => ['', ...text.split('\n')]),
  ];
  return { code: `${lines.join('\n')}\n`, notes: known.notes };
}

function heading({ scenario, notes }: Known, { seedFiles }: ExportWish): string[] {
  const { file, data } = scenario;
  return [
    `// Written by \`rewards scenario export ${file.replace(/\s+/g, ' ')}\`; rewards/testing has the steps as functions.`,
    ...(data.tags && data.tags.length > 0 ? [`// Tags: ${data.tags.join(', ')}`] : []),
    ...(seedFiles.length > 0
      ? ['// Paths of fixtures are relative to the folder in which the tests run.']
      : []),
    ...notes.map(({ line, message }) => `// Line ${line}: ${message.replace(/\s+/g, ' ')}`),
    `import { expectFits, startStack } from 'rewards/testing';`,
  ];
}

/** Both failures are told when the test and what runs after it fail. */
function ending(last: Statement[]): Statement[] {
  if (last.length === 0) return ['onTestFinished(() => stack.stop());'];
  const inside: Statement[] = [
    { head: 'try {', body: last, tail: '} finally {' },
    '  await stack.stop();',
    '}',
  ];
  return [
    '// At the end, after a failure as well.',
    { head: 'onTestFinished(async () => {', body: inside, tail: `}, ${TEST_TIMEOUT});` },
  ];
}

function testStatements(scenario: Scenario, body: Statement[]): Statement[] {
  const { name, matrix } = scenario.data;
  const tail = `}, ${TEST_TIMEOUT});`;
  if (!matrix) return [{ head: `test(${quoted(name)}, async () => {`, body, tail }];
  const keys = Object.keys(matrix);
  const title = `${name.replaceAll('%', '%%')} (${keys.map((key) => `${key}=$${key}`).join(', ')})`;
  return [
    ['const rows = ', valueSource(matrixRows(scenario.data)), ' as const;'],
    '',
    { head: `test.each(rows)(${quoted(title)}, async (matrix) => {`, body, tail },
  ];
}

/** The stack, and what the test knows at its beginning. */
function beginning({ scenario, uses }: Known, { seedFiles }: ExportWish): Statement[] {
  const { clock, errors, vars = {} } = scenario.data;
  const steps = everyStep([...scenario.steps, ...scenario.always]);
  const options = {
    ...(seedFiles.length > 0 && { seed: seedFiles }),
    ...(clock && { clock }),
    ...(errors !== undefined && { errors }),
    ...timeoutOf(steps),
  };
  const given: Source = Object.keys(options).length > 0 ? valueSource(options) : '';
  const isSaved = steps.some(({ fields }) => fields.save !== undefined);
  const isPlain = !isSaved && Object.values(vars).every((value) => typeof value !== 'object');
  const variables: Source = isPlain
    ? ['const vars = ', valueSource(vars), ' as const;']
    : ['const vars: Record<string, any> = ', valueSource(vars), ';'];
  return [
    ['const stack = await startStack(', given, ');'],
    ...(uses.has('vars') ? [variables] : []),
    ...[...uses].flatMap((name) => values[name] ?? []),
  ];
}

/** The longest wait of a step is that of the stack. */
function timeoutOf(steps: readonly Step[]): { timeoutMs?: number } {
  const waits = steps.flatMap(({ fields: { timeout } }) =>
    typeof timeout === 'string' ? [parseDuration(timeout) ?? 0] : [],
  );
  return waits.length > 0 ? { timeoutMs: Math.max(...waits, 30_000) } : {};
}
