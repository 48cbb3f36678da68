/** Asks the ledger on behalf of requests that wait: when something may have changed, and now and then in case another process did it. */
import { createFailureLog } from '../../lib/failures/failure-log.ts';
import type { Log } from '../../lib/log.ts';
import { every } from '../../lib/timers.ts';

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
