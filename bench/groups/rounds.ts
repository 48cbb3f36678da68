/** Rounds of load on one process, and what they found. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Load, LoadResult } from '../load/load.ts';
import { type Generator, processorMs } from '../setup/processes.ts';
import type { Rounds } from './found.ts';

/** What a chain may take to put the last of a round into a block. */
const SETTLE_MS = 60_000;

export interface Subject {
  load: Omit<Load, 'seconds' | 'callers'>;
  /** The processes whose time is counted, and the chain that they work with. */
  pids?: number[];
  chainPid?: number;
  /** Called before a round; what it returns resolves when the chain holds everything that was answered. */
  settled?(): Promise<(answered: number) => Promise<void>>;
}

/** One round: the load, and the wait until what was answered is on the chain. */
export async function measure(
  generator: Generator,
  subject: Subject,
  how: Pick<Load, 'callers' | 'seconds' | 'most' | 'perSecond' | 'spanSeconds'>,
) {
  const { load, pids, chainPid } = subject;
  const settled = await subject.settled?.();
  const busy = {
    process: pids && busySince(pids),
    chain: chainPid === undefined ? undefined : busySince([chainPid]),
  };
  const startedAt = performance.now();
  const result = await generator.run({ ...load, ...how });
  await settled?.(result.answered);
  const elapsedMs = settled ? performance.now() - startedAt : result.elapsedMs;
  return {
    ...result,
    elapsedMs,
    loadMs: result.elapsedMs,
    processMs: busy.process?.(),
    chainMs: busy.chain?.(),
  };
}

/** How many milliseconds of processor time these processes have used since, when it is asked. */
function busySince(pids: number[]): () => number {
  const total = () => pids.reduce((sum, pid) => sum + processorMs(pid), 0);
  const before = total();
  return () => total() - before;
}

export type Measured = Awaited<ReturnType<typeof measure>>;

/** What went otherwise than with an answer of 200; throws when nothing was answered so. */
export function problemsOf({ answered, others, firstOther }: LoadResult): string[] {
  const count = Object.values(others).reduce((sum, one) => sum + one, 0);
  if (answered === 0)
    throw new Error(`nothing was answered with 200: ${JSON.stringify(others)} ${firstOther}`);
  return count > 0 ? [`${count} answers were not 200: ${JSON.stringify(others)} ${firstOther}`] : [];
}

export const roundsOf = (measured: Measured[]): Rounds => {
  const share = (of: (one: Measured) => number | undefined, over: (one: Measured) => number) =>
    measured.flatMap((one) => {
      const value = of(one);
      return value === undefined ? [] : [value / over(one)];
    });
  return {
    rate: measured.map(({ answered, elapsedMs }) => (answered / elapsedMs) * 1_000),
    cpuMsEach: share(
      (one) => one.processMs,
      (one) => one.answered,
    ),
    busy: {
      process: share(
        (one) => one.processMs,
        (one) => one.elapsedMs,
      ),
      chain: share(
        (one) => one.chainMs,
        (one) => one.elapsedMs,
      ),
      generator: share(
        (one) => one.cpuMs,
        (one) => one.loadMs,
      ),
    },
    p50Ms: measured.map(({ p50Ms }) => p50Ms),
    p99Ms: measured.map(({ p99Ms }) => p99Ms),
  };
};

export const perSecond = ({ answered, elapsedMs }: Measured) => (answered / elapsedMs) * 1_000;

export interface Turns<Name extends string> {
  generator: Generator;
  say: (text: string) => void;
  subjects: Record<Name, Subject>;
  /** In this order in every round, so that a slow minute of the machine meets all of them. */
  names: Name[];
  rounds: number;
  warmUpSeconds: number;
  seconds: Record<Name, number>;
  callers: Record<Name, number>;
}

/** Measures several subjects in turn, after a round of each that warms up and is not counted. */
export async function inTurns<Name extends string>(
  turns: Turns<Name>,
): Promise<Partial<Record<Name, Rounds>>> {
  const { generator, say, subjects, names, rounds, warmUpSeconds, seconds, callers } = turns;
  const round = async (name: Name, lasting: number) => {
    const measured = await measure(generator, subjects[name], { callers: callers[name], seconds: lasting });
    for (const problem of problemsOf(measured)) say(`${name}: ${problem}`);
    return measured;
  };
  for (const name of names) await round(name, Math.min(seconds[name], warmUpSeconds));
  const found: Partial<Record<Name, Measured[]>> = {};
  for (let number = 1; number <= rounds; number++) {
    for (const name of names) {
      const measured = await round(name, seconds[name]);
      found[name] = [...(found[name] ?? []), measured];
      say(`round ${number} of ${rounds}: ${name} ${Math.round(perSecond(measured))} a second`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, roundsOf(found[name] ?? [])])) as Partial<
    Record<Name, Rounds>
  >;
}

export async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await done())) {
    if (performance.now() - startedAt > SETTLE_MS)
      throw new Error(`${what}: not on the chain after a minute`);
    await delay(50);
  }
}
