/** Lets callers wait for rows of the ledger until those are over, or for some time. */

import { createFailureLog } from '../../lib/failures/failure-log.ts';
import type { Log } from '../../lib/log.ts';
import { every, within } from '../../lib/timers.ts';

/** Any number of callers for each row; `isOver`: nothing more is waited for. */
export function createWaiters<Id extends string, Row>(
  read: (ids: Id[]) => Promise<Row[]>,
  idOf: (row: Row) => Id,
  isOver: (row: Row) => boolean,
) {
  const waiters = new Map<Id, Set<(row: Row) => void>>();
  return {
    isAwaited: () => waiters.size > 0,
    async look(): Promise<void> {
      if (waiters.size === 0) return;
      for (const row of await read([...waiters.keys()])) {
        if (isOver(row)) for (const tell of waiters.get(idOf(row)) ?? []) tell(row);
      }
    },
    async waitFor(id: Id, timeoutMs: number): Promise<Row | undefined> {
      const ofThis = waiters.get(id) ?? new Set();
      waiters.set(id, ofThis);
      let leave = () => {};
      const over = new Promise<Row>((resolve) => {
        ofThis.add(resolve);
        leave = () => {
          ofThis.delete(resolve);
          if (ofThis.size === 0 && waiters.get(id) === ofThis) waiters.delete(id);
        };
      });
      try {
        // It may be over already; then no block tells of it.
        const [now] = await read([id]);
        if (!now || isOver(now)) return now;
        return (await within(timeoutMs, over)) ?? (await read([id]))[0];
      } finally {
        leave();
      }
    },
  };
}

// Asks the ledger on behalf of requests that wait: when something may have changed, and now and then in case another
// process did it.

interface LedgerLooksDeps {
  /** What is asked about, for the log: `waiting calls`. */
  what: string;
  /** Reads the rows that callers wait for and tells them; not called while no caller waits. */
  ask: () => Promise<void>;
  isAwaited: () => boolean;
  /** How often the ledger is asked when nothing is heard. */
  pollMs: number;
  log: Log;
}

/** One question at a time. `look`: something may have changed. */
export function createLedgerLooks({ what, ask, isAwaited, pollMs, log }: LedgerLooksDeps) {
  const failures = createFailureLog({ what: `asking the ledger about ${what}`, log });
  let asking = false;
  let again = false;
  const run = async () => {
    asking = true;
    try {
      do {
        again = false;
        await ask();
      } while (again && isAwaited());
      failures.worked();
    } catch (error) {
      failures.failed(error, 'it is asked again');
    } finally {
      asking = false;
    }
  };
  return {
    look(): void {
      // A change that comes while the ledger answers may be missing in the answer.
      again = asking;
      if (!asking && isAwaited()) void run();
    },
    stop: every(pollMs, () => {
      if (!asking && isAwaited()) void run();
    }),
  };
}
