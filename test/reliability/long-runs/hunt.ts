/** The simulation over many seeds on every core, with a report; a failing seed is run again and its steps are shown. */
import { availableParallelism } from 'node:os';
import { faultNames, simCrashPoints } from '../simulation/plan.ts';
import { mutantNamed, type Result } from '../simulation/simulator.ts';
import { commit, say, startWorker, type Worker } from './workers.ts';

export interface SimOptions {
  seeds: number;
  from: number;
  workers: number | undefined;
  /** Ends the run then, however many seeds are left; it must have come as far as `SEEDS_MIN`. */
  minutes: number;
  /** A planted bug, to see what it does. */
  mutant: string | undefined;
  /** Counts what is wrong instead of stopping at the first seed that fails. */
  keepGoing: boolean;
}

const SLICE = 500;
/** From so many seeds on, every fault and a crash at every point must have happened: the rarest comes once in 7,000. */
const COVERING = 60_000;
/** A run that ends by the clock before it has come so far says nothing. */
const SEEDS_MIN = 5_000;

/** The exit code: 0 when every seed was clean, and enough of them left no fault out. */
export async function hunt(options: SimOptions): Promise<number> {
  mutantNamed(options.mutant);
  const count = Math.min(options.workers ?? availableParallelism(), Math.ceil(options.seeds / SLICE));
  const workers = Array.from({ length: count }, startWorker);
  try {
    const startedMs = performance.now();
    const total = await runAll(workers, options);
    const seconds = (performance.now() - startedMs) / 1_000;
    report(total, { ...options, seconds, workers: workers.length });
    if (total.failed.length > 0) {
      await show(workers, total, options);
      return 1;
    }
    const never = neverSeen(total);
    if (never.length > 0) say(`never happened: ${never.join(', ')}`);
    const isShort = total.seeds < Math.min(options.seeds, SEEDS_MIN);
    if (isShort) say(`too few seeds: ${total.seeds}`);
    if (isShort || (never.length > 0 && total.seeds >= COVERING)) return 1;
    say('no violation');
    return 0;
  } finally {
    for (const worker of workers) worker.process.kill();
  }
}

async function runAll(workers: Worker[], options: SimOptions): Promise<Result> {
  const { from, seeds, keepGoing, mutant } = options;
  const total: Result = { seeds: 0, failed: [], faults: [], points: [], crashes: [], cpuMs: 0 };
  let next = from;
  const end = from + seeds;
  let saidMs = performance.now();
  const untilMs = saidMs + options.minutes * 60_000;
  // After a stopped run one wants to know how far it came.
  let stopped = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stopped = true;
    });
  await Promise.all(
    workers.map(async ({ run }) => {
      while (
        !stopped &&
        performance.now() < untilMs &&
        next < end &&
        (keepGoing || total.failed.length === 0)
      ) {
        const size = Math.min(SLICE, end - next);
        next += size;
        const job = { from: next - size, seeds: size, mutant, stopAtFirst: !keepGoing, trace: seeds === 1 };
        add(total, await run(job));
        if (performance.now() - saidMs < 30_000) continue;
        saidMs = performance.now();
        say(`… ${total.seeds} seeds, ${total.failed.length} failed`);
      }
    }),
  );
  total.failed.sort((one, other) => one.seed - other.seed);
  return total;
}

function add(total: Result, more: Result): void {
  total.seeds += more.seeds;
  total.cpuMs += more.cpuMs;
  total.failed.push(...more.failed);
  for (const kind of ['faults', 'points', 'crashes'] as const) {
    const counts = new Map(total[kind]);
    for (const [name, n] of more[kind]) counts.set(name, (counts.get(name) ?? 0) + n);
    total[kind] = [...counts];
  }
}

const neverSeen = ({ faults, crashes }: Result): string[] => {
  const [struck, ended] = [new Map(faults), new Map(crashes)];
  return [
    ...faultNames.filter((name) => !struck.has(name)),
    ...simCrashPoints.filter((point) => !ended.has(point)).map((point) => `a crash at ${point}`),
  ];
};

function report(total: Result, run: { from: number; seconds: number; workers: number }): void {
  const list = (counts: [string, number][]) =>
    [...counts]
      .sort(([, one], [, other]) => other - one)
      .map(([name, n]) => `${name} ${n}`)
      .join(' · ');
  const rate = (total.seeds / run.seconds).toFixed(0);
  const perCpu = ((total.seeds / total.cpuMs) * 1_000).toFixed(0);
  say(`commit ${commit()}: ${total.seeds} seeds from ${run.from} in ${run.seconds.toFixed(1)} s`);
  say(`${rate} seeds/s on ${run.workers} workers, ${perCpu} per second of processor time`);
  say(`faults: ${list(total.faults)}`);
  say(`crashes at: ${list(total.crashes)}`);
  say(`crash points passed: ${list(total.points)}`);
}

/** What went wrong, and the first seed of it step by step. */
async function show([worker]: Worker[], { failed }: Result, { keepGoing, mutant }: SimOptions) {
  const [first] = failed;
  if (!first) return;
  if (keepGoing) {
    const kinds = new Map<string, number[]>();
    for (const { seed, findings } of failed) {
      const [finding] = findings;
      if (finding) kinds.set(finding.invariant, [...(kinds.get(finding.invariant) ?? []), seed]);
    }
    for (const [invariant, seeds] of kinds)
      say(`${invariant}: ${seeds.length} seeds, such as ${seeds.slice(0, 8).join(' ')}`);
  }
  const { seed } = first;
  const again = first.trace
    ? { failed: [first] }
    : await worker?.run({ from: seed, seeds: 1, mutant, stopAtFirst: true, trace: true });
  for (const line of again?.failed[0]?.trace ?? []) say(line);
  for (const { invariant, what } of first.findings) say(`VIOLATION ${invariant}: ${what}`);
  const planted = mutant === undefined ? '' : ` --mutant ${mutant}`;
  say(`seed ${seed} at ${commit()}: npm run torture -- sim --from ${seed} --seeds 1${planted}`);
}
