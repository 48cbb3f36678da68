/** `npm run mutate`: changes the source on trial and says which changes no test notices. See docs/reliability.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { areaNamed, areas } from './areas.ts';
import { contractChanges } from './contract-changes.ts';
import { droppedCalls } from './dropped-calls.ts';
import { judgedByList } from './judged.ts';
import { rangeOf, tryOperators } from './operators.ts';
import { planted } from './planted.ts';
import { judgedByTypes } from './refused-by-types.ts';
import { type Change, openSandbox } from './sandbox.ts';
import { isOpen, scoreOf, scoreTable, type Verdict, withNews } from './verdict.ts';

const USAGE = `npm run mutate -- [areas] [options]

  areas            ${areas.map(({ name }) => name).join(', ')}, contracts, planted; all when none is named
  --part 0.1       share of each area's lines in which operators, blocks and literals are changed; 1 for all
  --dropped 10     calls left out in each area
  --at "a.ts:1-9 b.ts"  operators of these lines of one area only, instead of a share
  --again FILE     operators that a report left open (survived, untried), once more; the score is of both runs
  --tests "test/ledger/*.test.ts"  judged by these tests (with --near: these files) instead of the area's: quicker, and what survives may still be noticed
  --names REGEX    judged by those tests alone that are named so, such as '^(?!Postgres)'
  --near           operators are judged by tests that need no service, in one process: a thousand a minute, a lower bound;
                   with --tests also by tests that start a service inside of their own process: fifty to a hundred a minute
  --when-loaded    also changes what runs once when a module is loaded; each such change runs all tests
  --types          what no test notices is shown to the compiler: what it refuses counts as noticed, in a column of its own
  --seed 1         which lines and calls those are
  --together 2     how many changes are tried at the same time
  --report FILE    every change and its outcome, as JSON

Changes that no test has to notice are listed in test/reliability/mutation/judged, with their reasons: they are in the raw score and
not in the judged one. Ends with 1 when a planted change survives or the judged score of an area is below 95 %.`;

const SCORE_MIN = 0.95;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string', default: '0.1' },
    dropped: { type: 'string', default: '10' },
    at: { type: 'string' },
    again: { type: 'string' },
    tests: { type: 'string' },
    names: { type: 'string' },
    near: { type: 'boolean', default: false },
    'when-loaded': { type: 'boolean', default: false },
    types: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    together: { type: 'string', default: '2' },
    report: { type: 'string' },
    help: { type: 'boolean' },
  },
});

if (values.names) process.env.REWARDS_MUTATE_NAMES = values.names;
if (values.help) console.log(USAGE);
else process.exitCode = await mutate();

/** The exit code. */
async function mutate(): Promise<number> {
  const wanted =
    positionals.length > 0 ? positionals : ['planted', 'contracts', ...areas.map(({ name }) => name)];
  const verdicts: Verdict[] = [];
  for (const name of wanted) {
    const tried = await tryArea(name);
    const found = judgedByList(values.types ? judgedByTypes(tried) : tried);
    verdicts.push(...found);
    for (const { where, change, outcome } of found)
      if (outcome === 'survived' || outcome === 'untried')
        console.log(`${outcome.padEnd(9)} ${where}  ${change}`);
    if (values.report) writeFileSync(values.report, `${JSON.stringify(verdicts, undefined, 1)}\n`);
  }
  for (const line of scoreTable(verdicts)) console.log(line);
  return wanted.some((name) => !isGood(name, verdicts)) ? 1 : 0;
}

function isGood(name: string, verdicts: readonly Verdict[]): boolean {
  const ofArea = verdicts.filter(({ area }) => area === name);
  return scoreOf(ofArea, { judged: true }) >= (name === 'planted' ? 1 : SCORE_MIN);
}

async function tryArea(name: string): Promise<Verdict[]> {
  const seed = Number(values.seed);
  const together = Number(values.together);
  const part = Number(values.part);
  const tests = values.tests?.split(' ');
  if (name === 'planted') {
    const isContract = ({ file }: Change) => file.endsWith('.sol');
    const changes = planted.map((one) => (tests && !isContract(one) ? { ...one, tests } : one));
    return tryChanges(name, changes, together);
  }
  if (name === 'contracts') return tryChanges(name, contractChanges({ part, seed }), together);
  const area = { ...areaNamed(name) };
  const at = values.at?.split(' ') ?? [];
  if (tests) Object.assign(area, { tests, near: tests });
  const { near, 'when-loaded': whenLoaded } = values;
  if (values.again) {
    const before: Verdict[] = JSON.parse(readFileSync(values.again, 'utf8'));
    const open = before.filter((one) => one.area === name && isOpen(one)).map(({ where }) => rangeOf(where));
    const found = await tryOperators(area, { part: 0, seed, at: open, together, near, whenLoaded });
    return withNews(before, found).filter((one) => one.area === name);
  }
  return [
    ...(part > 0 ? await tryOperators(area, { part, seed, at, together, near, whenLoaded }) : []),
    ...(await tryChanges(name, droppedCalls(area, { count: Number(values.dropped), seed }), together)),
  ];
}

/** Each in a copy of the project; so many copies as are tried together. Throws when tests fail without any change. */
async function tryChanges(area: string, changes: readonly Change[], together: number): Promise<Verdict[]> {
  const open = [...changes];
  const sets = [...new Map(changes.map(({ tests }) => [tests.join(' '), tests])).values()];
  const verdicts: Verdict[] = [];
  const inSandboxes = (work: (sandbox: ReturnType<typeof openSandbox>) => Promise<void>, count: number) =>
    Promise.all(
      Array.from({ length: Math.min(together, count) }, async () => {
        const sandbox = openSandbox();
        try {
          await work(sandbox);
        } finally {
          sandbox.close();
        }
      }),
    );
  await inSandboxes(async (sandbox) => {
    for (let tests = sets.shift(); tests; tests = sets.shift())
      if (!(await sandbox.passes(tests)))
        throw new Error(
          `${tests.join(' ')} fail without any change: mend them first\n${sandbox.lastWords()}`,
        );
  }, sets.length);
  await inSandboxes(async (sandbox) => {
    for (let change = open.shift(); change; change = open.shift()) {
      const what = `${oneLine(change.find)} → ${oneLine(change.replace)}`;
      const verdict = { area, where: placeOf(change), change: what, ...(await sandbox.tryChange(change)) };
      verdicts.push(verdict);
      console.log(`${verdicts.length}/${changes.length} ${verdict.outcome} ${verdict.where}  ${what}`);
    }
  }, open.length);
  return verdicts;
}

function placeOf({ file, find, at }: Change): string {
  const text = readFileSync(file, 'utf8');
  const line = text.slice(0, at ?? text.indexOf(find)).split('\n').length;
  return `${file}:${line}`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 89)}…` : line || '(left out)';
}
