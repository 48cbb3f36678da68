/** Rounds of load on one process, and what they found. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Load, LoadResult } from './generator.ts';
import { type Generator, processorMs } from './processes.ts';
import type { Rounds } from './report.ts';

/** What a chain may take to put the last of a round into a block. */
const SETTLE_MS = 60_000;

export interface Subject {
  load: Omit<Load, 'seconds' | 'callers'>;
  /** The process whose time is counted, and the chain that it works with. */
  pid?: number;
  chainPid?: number;
  /** Called before a round; what it returns resolves when the chain holds everything that was answered. */
  settled?(): Promise<(answered: number) => Promise<void>>;
}

/** One round: the load, and the wait until what was answered is on the chain. */
export async function measure(
  generator: Generator,
  subject: Subject,
  { callers, seconds }: { callers: number; seconds: number },
) {
  const { load, pid, chainPid } = subject;
  const settled = await subject.settled?.();
  const busyBefore = [pid, chainPid].map((one) => (one ? processorMs(one) : 0));
  const startedAt = performance.now();
  const result = await generator.run({ ...load, callers, seconds });
  await settled?.(result.answered);
  const elapsedMs = settled ? performance.now() - startedAt : result.elapsedMs;
  const busyMs = [pid, chainPid].map((one, place) =>
    one ? processorMs(one) - (busyBefore[place] ?? 0) : undefined,
  );
  return { ...result, elapsedMs, loadMs: result.elapsedMs, processMs: busyMs[0], chainMs: busyMs[1] };
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

export async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await done())) {
    if (performance.now() - startedAt > SETTLE_MS)
      throw new Error(`${what}: not on the chain after a minute`);
    await delay(50);
  }
}
