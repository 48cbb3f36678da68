/** Runs many jobs: a fixed number at a time, or at a fixed rate however long they take. */
import { delay, stopwatch } from '../lib/timers.ts';

export interface Pace {
  /** Jobs under way at once; each that ends makes room for the next. */
  concurrency?: number | undefined;
  /** Jobs begun per second, instead of `concurrency`: a slow answer does not delay the other jobs. */
  ratePerSecond?: number | undefined;
  /** No job begins later than this. */
  durationMs?: number | undefined;
}

/** `lateMs`: how much later than planned the job began; part of what a caller would have waited. */
export type Job = (index: number, lateMs: number) => Promise<void>;

/** Resolves with the number of jobs that began, once all of them have ended. */
export async function runPaced(jobs: { count: number; run: Job }, pace: Pace, signal: AbortSignal) {
  const elapsedMs = stopwatch();
  const over = () => signal.aborted || elapsedMs() > (pace.durationMs ?? Number.POSITIVE_INFINITY);
  let begun = 0;
  if (pace.ratePerSecond !== undefined) {
    const under: Promise<void>[] = [];
    while (begun < jobs.count) {
      const dueMs = (begun * 1_000) / pace.ratePerSecond;
      const waitMs = dueMs - elapsedMs();
      // Timers fire up to a millisecond late, so a job that is due within one begins at once.
      if (waitMs > 1) await delay(waitMs, signal);
      if (over()) break;
      under.push(jobs.run(begun, Math.max(0, elapsedMs() - dueMs)));
      begun += 1;
    }
    await Promise.all(under);
    return begun;
  }
  const worker = async () => {
    while (begun < jobs.count && !over()) {
      begun += 1;
      await jobs.run(begun - 1, 0);
    }
  };
  await Promise.all(Array.from({ length: Math.min(pace.concurrency ?? 1, jobs.count) }, worker));
  return begun;
}
