/** `npm run torture -- <part>`: hands over to the part that is asked for. */
import { parseArgs } from 'node:util';
import { runVitest } from './run-vitest.ts';

const USAGE = `usage: npm run torture -- <part> [options]
  sim        [--seeds N] [--minutes N] [--from N] [--workers N] [--mutant NAME] [--keep-going]
  mutants    [NAME…] [--seeds N] [--from N] [--workers N]
  api        [--stories N] [--from N]
  processes  [--points all|none|NAME,…] [--schedules N] [--from N]
  answers    [--rounds N]
  webhooks   [--deliveries N]
  all        every part, one after the other
every part: --size commit (default) or night; --help prints this
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    size: { type: 'string', default: 'commit' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    from: { type: 'string', default: '1' },
    workers: { type: 'string' },
    mutant: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
    points: { type: 'string' },
    stories: { type: 'string' },
    rounds: { type: 'string' },
    schedules: { type: 'string' },
    deliveries: { type: 'string' },
  },
});
const [part = '', ...names] = positionals;

/** What fits beside a commit's other tests, and what a night is for. */
const SIZES = {
  commit: {
    seeds: 200_000,
    minutes: 9,
    mutantSeeds: 40_000,
    stories: 20,
    points: 'lane.stored',
    schedules: 2,
    rounds: 4,
    deliveries: 10_000,
  },
  night: {
    seeds: 5_000_000,
    minutes: Number.POSITIVE_INFINITY,
    mutantSeeds: 200_000,
    stories: 500,
    points: 'all',
    schedules: 100,
    rounds: 280,
    deliveries: 100_000,
  },
};
const size = Object.entries(SIZES).find(([name]) => name === values.size)?.[1];
const number = (text: string | undefined, otherwise: number) =>
  text === undefined ? otherwise : Number(text);

async function run(wanted: string, of: typeof SIZES.commit): Promise<number | undefined> {
  const from = Number(values.from);
  const workers = values.workers === undefined ? undefined : Number(values.workers);
  if (wanted === 'sim') {
    const { hunt } = await import('./hunt.ts');
    const seeds = number(values.seeds, of.seeds);
    const minutes = number(
      values.minutes,
      values.seeds === undefined ? of.minutes : Number.POSITIVE_INFINITY,
    );
    return hunt({ seeds, minutes, from, workers, mutant: values.mutant, keepGoing: values['keep-going'] });
  }
  if (wanted === 'mutants') {
    const { catchAll } = await import('../planted-bugs/find-mutants.ts');
    return catchAll({ names, seeds: number(values.seeds, of.mutantSeeds), from, workers });
  }
  if (wanted === 'api') {
    const stories = number(values.stories, of.stories);
    return runVitest(['test/reliability/stories/stories.test.ts'], {
      TORTURE_STORIES: stories,
      TORTURE_SEED: from,
    });
  }
  if (wanted === 'processes') {
    return runVitest(['test/reliability/processes/crash-schedules.test.ts'], {
      TORTURE_POINTS: values.points ?? of.points,
      TORTURE_SCHEDULES: number(values.schedules, of.schedules),
      TORTURE_SEED: from,
    });
  }
  if (wanted === 'webhooks') {
    const deliveries = number(values.deliveries, of.deliveries);
    return runVitest(['test/reliability/webhooks'], { TORTURE_DELIVERIES: deliveries });
  }
  if (wanted === 'answers') {
    const rounds = number(values.rounds, of.rounds);
    return runVitest(['test/reliability/nodes/lossy-node.test.ts', '-t', 'lost-answer'], {
      REWARDS_LOSSY_ROUNDS: rounds,
    });
  }
  return undefined;
}

if (values.help) {
  process.stdout.write(USAGE);
} else if (part === 'sim-worker') {
  const { work } = await import('../simulation/simulator.ts');
  await work();
} else {
  const parts = part === 'all' ? ['mutants', 'sim', 'api', 'processes', 'answers', 'webhooks'] : [part];
  let code = 0;
  for (const one of parts) code = Math.max(code, (size && (await run(one, size))) ?? 2);
  if (code === 2) process.stderr.write(USAGE);
  process.exitCode = code;
}
