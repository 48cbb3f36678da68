/** The only reader of the process's environment. */

import { type Crash, crashAt } from '../lib/crash-points.ts';

/** Variables by name; an empty variable counts as not set. */
export type Environment = Readonly<Record<string, string>>;

/** Names of this program's variables that are set and empty: a start refuses them, since nobody knows what was meant. */
export const emptyVariables = (): string[] =>
  Object.entries(process.env).flatMap(([name, value]) =>
    value === '' && name.startsWith('REWARDS_') ? name : [],
  );

/** A copy of the environment as it is now. */
export function readEnvironment(): Environment {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

/**
 * REWARDS_CRASH_AT=<point>:<n>, for tests of this program only: `serve` ends itself by SIGKILL at the nth hit of a crash
 * point. Undefined unless the variable is set. Throws when it names no crash point.
 */
export function crashFromEnvironment(env: Environment): Crash | undefined {
  const text = env.REWARDS_CRASH_AT;
  if (text === undefined) return undefined;
  return crashAt(text, () => process.kill(process.pid, 'SIGKILL'));
}
