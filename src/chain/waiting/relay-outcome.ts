/** Lets a request wait for its relayed call: the ledger is asked when a block was read here, and now and then in case another process reads. */
import type { Database } from '../../ledger/database/database.ts';
import { type RelayProgress, readRelays } from '../../ledger/relay/queued-relays.ts';
import type { Log } from '../../lib/log.ts';
import { within } from '../../lib/timers.ts';
import { createLedgerLooks } from './ledger-looks.ts';

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
  const isAwaited = () => waiters.size > 0;
  const looks = createLedgerLooks({
    what: 'waiting calls',
    async ask() {
      for (const progress of await readRelays(db, [...waiters.keys()])) {
        if (isIncluded(progress)) waiters.get(progress.id)?.(progress);
      }
    },
    isAwaited,
    pollMs: deps.pollMs,
    log: deps.log,
  });
  return {
    look: looks.look,
    async waitFor({ id, timeoutMs }) {
      const included = await within(
        timeoutMs,
        new Promise<RelayProgress>((resolve) => waiters.set(id, resolve)),
      );
      waiters.delete(id);
      return included ?? (await readRelays(db, [id]))[0];
    },
    isAwaited,
    stop: looks.stop,
  };
}
