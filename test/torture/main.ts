/** `npm run torture -- <part>`: hands over to the part that is asked for. */
import { parseArgs } from 'node:util';

const USAGE = `usage: npm run torture -- <part> [options]
  sim        [--seeds N] [--from N] [--workers N] [--mutant NAME] [--keep-going]
  mutants    [NAME…] [--seeds N] [--from N] [--workers N]
  processes  [--points all|none|NAME,…] [--schedules N] [--from N]
  all        every layer, one after the other
every part: --size commit (default) or night
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: 'commit' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string' },
    mutant: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
    points: { type: 'string' },
    schedules: { type: 'string' },
  },
});
const [part = '', ...names] = positionals;

/** What fits beside a commit's other tests, and what a night is for. */
const SIZES = {
  commit: { seeds: 200_000, mutantSeeds: 40_000, points: 'lane.stored,lane.sent', schedules: 2 },
  night: { seeds: 5_000_000, mutantSeeds: 200_000, points: 'all', schedules: 100 },
};
const size = Object.entries(SIZES).find(([name]) => name === values.size)?.[1];
const number = (text: string | undefined, otherwise: number) =>
  text === undefined ? otherwise : Number(text);

async function run(wanted: string, of: typeof SIZES.commit): Promise<number | undefined> {
  const from = Number(values.from);
  const workers = values.workers === undefined ? undefined : Number(values.workers);
  if (wanted === 'sim') {
    const { hunt } = await import('./sim.ts');
    const seeds = number(values.seeds, of.seeds);
    return hunt({ seeds, from, workers, mutant: values.mutant, keepGoing: values['keep-going'] });
  }
  if (wanted === 'mutants') {
    const { catchAll } = await import('./planted-bugs.ts');
    return catchAll({ names, seeds: number(values.seeds, of.mutantSeeds), from, workers });
  }
  if (wanted === 'processes') {
    const { runProcesses } = await import('./processes.ts');
    const { points = of.points } = values;
    return runProcesses({ points, schedules: number(values.schedules, of.schedules), from });
  }
  return undefined;
}

if (part === 'sim-worker') {
  const { work } = await import('./sim-worker.ts');
  await work();
} else {
  const parts = part === 'all' ? ['mutants', 'sim', 'processes'] : [part];
  let code = 0;
  for (const one of parts) code = Math.max(code, (size && (await run(one, size))) ?? 2);
  if (code === 2) process.stderr.write(USAGE);
  process.exitCode = code;
}
