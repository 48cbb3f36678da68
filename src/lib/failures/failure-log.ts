/** The log of work that is tried again and again: a failure once for each cause, and once that it works again. */

import { formatDuration } from '../duration.ts';
import type { Log } from '../log.ts';
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
