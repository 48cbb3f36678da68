/** REWARDS_CRASH_AT=<point>:<n>, for tests of this program only: `serve` ends itself by SIGKILL at the nth hit of a crash point. */
import { type Crash, crashAt } from '../lib/crash-points.ts';
import type { Environment } from './env.ts';

/** Undefined unless the variable is set. Throws when it names no crash point. */
export function crashFromEnvironment(env: Environment): Crash | undefined {
  const text = env.REWARDS_CRASH_AT;
  if (text === undefined) return undefined;
  return crashAt(text, () => process.kill(process.pid, 'SIGKILL'));
}
