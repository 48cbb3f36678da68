/** The simulation over many seeds on every core, with a report; a failing seed is run again and its steps are shown. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { mutants } from '../sim/mutants.ts';
import { type Job, mutantNamed, type Result } from './sim-worker.ts';

export interface TortureOptions {
  seeds: number;
  from: number;
  workers: number | undefined;
  /** A planted bug that has to be found, or `all` of them. */
  mutant: string | undefined;
  /** Counts what is wrong instead of stopping at the first seed that fails. */
  keepGoing: boolean;
}

const SLICE = 500;
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** The exit code: 0 when every seed was clean, or every planted bug was found. */
export async function torture(options: TortureOptions): Promise<number> {
  const workers = Array.from({ length: options.workers ?? availableParallelism() }, startWorker);
  try {
    if (options.mutant === undefined) return await hunt(workers, options);
    const names =
      options.mutant === 'all' ? mutants.map(({ name }) => name) : [mutantNamed(options.mutant).name];
    return await hunted(workers, names, options);
  } finally {
    for (const worker of workers) worker.process.kill();
  }
}

type Worker = ReturnType<typeof startWorker>;

function startWorker() {
  const [, script = ''] = process.argv;
  const child: ChildProcess = fork(script, ['sim-worker']);
  return {
    process: child,
    run: (job: Job) =>
      new Promise<Result>((resolve, reject) => {
        const gone = (code: number | null) => reject(new Error(`a worker ended with ${code}`));
        child.once('exit', gone);
        child.once('message', (result) => {
          child.off('exit', gone);
          resolve(result as Result);
        });
        child.send(job);
      }),
  };
}

async function hunt(workers: Worker[], { from, seeds, keepGoing }: TortureOptions): Promise<number> {
  const startedMs = performance.now();
  const total: Result = { seeds: 0, failed: [], faults: [], points: [], cpuMs: 0 };
  const faults = new Map<string, number>();
  const points = new Map<string, number>();
  let next = from;
  const end = from + seeds;
  const add = (counts: Map<string, number>, more: [string, number][]) => {
    for (const [name, n] of more) counts.set(name, (counts.get(name) ?? 0) + n);
  };
  let saidMs = startedMs;
  await Promise.all(
    workers.map(async ({ run }) => {
      while (next < end && (keepGoing || total.failed.length === 0)) {
        const job = {
          from: next,
          seeds: Math.min(SLICE, end - next),
          mutant: undefined,
          stopAtFirst: !keepGoing,
          trace: seeds === 1,
        };
        next += job.seeds;
        const result = await run(job);
        total.seeds += result.seeds;
        total.cpuMs += result.cpuMs;
        total.failed.push(...result.failed);
        add(faults, result.faults);
        add(points, result.points);
        if (performance.now() - saidMs > 30_000) {
          saidMs = performance.now();
          say(`… ${total.seeds} seeds`);
        }
      }
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  const list = (counts: Map<string, number>) =>
    [...counts]
      .sort(([, one], [, other]) => other - one)
      .map(([name, n]) => `${name} ${n}`)
      .join(' · ');
  say(`commit ${commit()}: ${total.seeds} seeds from ${from} in ${seconds.toFixed(1)} s`);
  say(
    `${(total.seeds / seconds).toFixed(0)} seeds/s on ${workers.length} workers, ${((total.seeds / total.cpuMs) * 1_000).toFixed(0)} per second of processor time`,
  );
  say(`faults: ${list(faults)}`);
  say(`crash points passed: ${list(points)}`);
  const [first] = total.failed.sort((one, other) => one.seed - other.seed);
  if (!first) {
    say('no violation');
    return 0;
  }
  if (keepGoing) {
    const kinds = new Map<string, number[]>();
    for (const { seed, findings } of total.failed) {
      const [finding] = findings;
      if (finding) kinds.set(finding.invariant, [...(kinds.get(finding.invariant) ?? []), seed]);
    }
    for (const [invariant, failed] of kinds)
      say(`${invariant}: ${failed.length} seeds, such as ${failed.slice(0, 8).join(' ')}`);
  }
  const [worker] = workers;
  const again = await worker?.run({
    from: first.seed,
    seeds: 1,
    mutant: undefined,
    stopAtFirst: true,
    trace: true,
  });
  for (const line of again?.failed[0]?.trace ?? []) say(line);
  for (const { invariant, what } of first.findings) say(`VIOLATION ${invariant}: ${what}`);
  say(`seed ${first.seed} at ${commit()}: npm run torture -- sim --from ${first.seed} --seeds 1`);
  return 1;
}

async function hunted(workers: Worker[], names: string[], { from, seeds }: TortureOptions): Promise<number> {
  const open = [...names];
  let escaped = 0;
  await Promise.all(
    workers.map(async ({ run }) => {
      for (let name = open.shift(); name !== undefined; name = open.shift()) {
        const result = await run({ from, seeds, mutant: name, stopAtFirst: true, trace: seeds === 1 });
        const [first] = result.failed;
        for (const line of first?.trace ?? []) say(line);
        const [finding] = first?.findings ?? [];
        if (!first) escaped += 1;
        say(
          first
            ? `caught  ${name.padEnd(26)} seed ${String(first.seed).padStart(6)}  ${finding?.invariant}: ${finding?.what}`
            : `ESCAPED ${name.padEnd(26)} ${result.seeds} seeds`,
        );
      }
    }),
  );
  say(`${names.length - escaped} of ${names.length} planted bugs caught`);
  return escaped === 0 ? 0 : 1;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
