/** Whether something outside answers: its loss and its return are said once each, with the cause and the time between. */
import { formatDuration } from '../duration.ts';
import type { Log, LogFields } from '../log.ts';
import { stopwatch } from '../timers.ts';

/** One use of the dependency, from before it until its outcome is known. */
interface Attempt {
  answered(): void;
  /** `why` in few words, without addresses. The error counts as said from then on. */
  failed(error: unknown, why: string): void;
}

/** Why something does not answer, and for how long already. */
export interface Away {
  why: string;
  forMs: number;
}

export interface Availability {
  attempt(): Attempt;
  /** Undefined while it answers, as far as its uses have shown. */
  away(): Away | undefined;
}

/** Errors whose cause stands in the log already, so that nobody logs what they lead to once more. */
const said = new WeakSet<object>();

/** Whether an availability has told the log about this error, or about one of its causes. */
export function isSaid(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (said.has(cause)) return true;
  return false;
}

/**
 * `what` begins the sentences, such as `the database`. An attempt that began before the last change of state changes
 * nothing: answers and failures of one moment arrive in any order.
 */
export function createAvailability(of: {
  what: string;
  fields?: LogFields;
  /** How its loss is logged: `warn` where others stand in. */
  loss?: 'warn' | 'error';
  /** How its return is logged: `warn` where people read the log as it comes, at a level that leaves `info` out. */
  back?: 'info' | 'warn';
  log: Log;
}): Availability {
  const { what, fields = {}, loss = 'error', back = 'info', log } = of;
  let attempts = 0;
  let changedAt = 0;
  let away: { why: string; elapsedMs: () => number } | undefined;
  return {
    away: () => away && { why: away.why, forMs: Math.round(away.elapsedMs()) },
    attempt() {
      attempts += 1;
      const mine = attempts;
      return {
        answered() {
          if (!away || mine <= changedAt) return;
          const awayMs = Math.round(away.elapsedMs());
          log[back]({ ...fields, why: away.why, awayMs }, `${what} is back after ${formatDuration(awayMs)}`);
          away = undefined;
          changedAt = attempts;
        },
        failed(error, why) {
          if (error instanceof Error) said.add(error);
          if (away || mine <= changedAt) return;
          away = { why, elapsedMs: stopwatch() };
          changedAt = attempts;
          log[loss]({ ...fields, why }, `${what} is away: ${why}`);
        },
      };
    },
  };
}

/** For tests and commands that log nothing. */
export const unwatched: Availability = {
  attempt: () => ({ answered: () => {}, failed: () => {} }),
  away: () => undefined,
};
