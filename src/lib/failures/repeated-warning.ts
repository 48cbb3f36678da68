/** A warning about something that is tried again and again: said when it changes, then once an hour with a count. */
import type { Log, LogFields } from '../log.ts';

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
