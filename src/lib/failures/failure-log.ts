/**
 * The log of work that is tried again and again: a failure once for each cause, once that it works again, and warnings
 * when they change.
 */
import { formatDuration } from '../duration.ts';
import type { Log, LogFields } from '../log.ts';
import { stopwatch } from '../timers.ts';
import { isSaid } from './availability.ts';
import { causeOf } from './root-cause.ts';

/** Causes that differ by a number in their text would fill the log all the same. */
const CAUSES_MAX = 10;

/** `what` begins the sentences, such as `the payouts loop`. */
export function createFailureLog(of: { what: string; log: Log }) {
  let spell: { causes: Set<string>; failures: number; elapsedMs: () => number } | undefined;
  return {
    /** `next` says what happens now. Silent about an error that an availability has told already. */
    failed(error: unknown, next: string): void {
      spell ??= { causes: new Set(), failures: 0, elapsedMs: stopwatch() };
      spell.failures += 1;
      const cause = causeOf(error);
      if (isSaid(error) || spell.causes.has(cause) || spell.causes.size >= CAUSES_MAX) return;
      spell.causes.add(cause);
      of.log.error({ error: cause }, `${of.what} failed; ${next}`);
    },
    worked(): void {
      if (!spell) return;
      const { causes, failures, elapsedMs } = spell;
      spell = undefined;
      if (causes.size === 0) return;
      const failedMs = Math.round(elapsedMs());
      of.log.info({ failures, failedMs }, `${of.what} works again after ${formatDuration(failedMs)}`);
    },
    /** How often in a row it has failed. */
    failures: () => spell?.failures ?? 0,
  };
}

// A warning about something that is tried again and again: said when it changes, then once an hour with a count.

/** Often enough for somebody who begins to read a log now. */
const AGAIN_AFTER_MS = 3_600_000;

export interface RepeatedWarning {
  /** `about` and `what` together are what a change is told by; fields may differ from time to time. */
  say(about: string, what: string, warning: { fields: LogFields; message: string }): void;
  /** It is over: the next time is said at once. */
  over(about: string): void;
}

export function createRepeatedWarning(deps: { log: Log; nowMs: () => number }): RepeatedWarning {
  const said = new Map<string, { what: string; atMs: number; since: number }>();
  return {
    say(about, what, { fields, message }) {
      const last = said.get(about);
      const nowMs = deps.nowMs();
      const times = (last?.since ?? 0) + 1;
      // A clock that was set back says nothing about how long ago it was said.
      const isOld = last !== undefined && (nowMs - last.atMs >= AGAIN_AFTER_MS || nowMs < last.atMs);
      if (last?.what === what && !isOld) {
        last.since = times;
        return;
      }
      said.set(about, { what, atMs: nowMs, since: 0 });
      deps.log.warn({ ...fields, ...(last?.what === what && { times }) }, message);
    },
    over: (about) => void said.delete(about),
  };
}
