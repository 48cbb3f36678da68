/** Lets a request wait for its relayed call: the ledger is asked when a block was read here, and now and then in case another process reads. */
import type { Database } from '../../ledger/database/database.ts';
import { type RelayProgress, readRelays } from '../../ledger/relay/queued-relays.ts';
import { createFailureLog } from '../../lib/failures/failure-log.ts';
import type { Log } from '../../lib/log.ts';
import { every, within } from '../../lib/timers.ts';

export interface RelayProgressBoard {
  /** Blocks were read that may hold relayed calls. */
  look(): void;
  /** Resolves when a block holds the call, or with how far it has come when `timeoutMs` of real time have passed. */
  waitFor(wait: { id: string; timeoutMs: number }): Promise<RelayProgress | undefined>;
  isAwaited(): boolean;
  stop(): void;
}

/** Whether a block holds the call. */
export const isIncluded = ({ status }: Pick<RelayProgress, 'status'>) =>
  status === 'included' || status === 'final';

/** One per process. */
export function createRelayProgress(deps: {
  database: Database;
  log: Log;
  pollMs: number;
}): RelayProgressBoard {
  const { db } = deps.database;
  const waiters = new Map<string, (progress: RelayProgress) => void>();
  const failures = createFailureLog({ what: 'asking the ledger about waiting calls', log: deps.log });
  let asking = false;
  let again = false;

  const look = async () => {
    // A block that is read while the ledger answers may be missing in the answer.
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      do {
        again = false;
        for (const progress of await readRelays(db, [...waiters.keys()])) {
          if (isIncluded(progress)) waiters.get(progress.id)?.(progress);
        }
      } while (again);
      failures.worked();
    } catch (error) {
      failures.failed(error, 'it is asked again');
    } finally {
      asking = false;
    }
  };
  const stop = every(deps.pollMs, () => {
    if (waiters.size > 0) void look();
  });

  return {
    look() {
      if (waiters.size > 0) void look();
    },
    async waitFor({ id, timeoutMs }) {
      const included = await within(
        timeoutMs,
        new Promise<RelayProgress>((resolve) => waiters.set(id, resolve)),
      );
      waiters.delete(id);
      return included ?? (await readRelays(db, [id]))[0];
    },
    isAwaited: () => waiters.size > 0,
    stop,
  };
}
