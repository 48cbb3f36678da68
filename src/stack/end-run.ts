/** Ends the process of a stack that runs here, and waits until it is gone. */
import { delay, stopwatch } from '../lib/timers.ts';
import { findRunFile, isAlive, namedRuns, type RunInfo } from './run-file.ts';

/** A stack stops within five seconds; somebody who waits for it looks this often. */
const LOOK_EVERY_MS = 50;

/** Every stack that runs in `startDir` or above it: the one without a name first. */
export async function runsHere(startDir: string): Promise<RunInfo[]> {
  const names = [undefined, ...(await namedRuns(startDir))];
  const found = await Promise.all(names.map((name) => findRunFile(startDir, name)));
  return found.flatMap(({ run }) => run ?? []);
}

/**
 * Asks the process of a run file to stop; false when it is still there after `timeoutMs`. A process that has only got its
 * pid since is left alone.
 */
export async function endRun(run: Pick<RunInfo, 'pid' | 'startTime'>, timeoutMs: number): Promise<boolean> {
  const elapsedMs = stopwatch();
  if (!(await isAlive(run))) return true;
  try {
    process.kill(run.pid, 'SIGTERM');
  } catch (error) {
    // It has ended by itself in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  while (await isAlive(run)) {
    if (elapsedMs() >= timeoutMs) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}
