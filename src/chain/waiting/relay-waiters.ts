/** Lets a request wait for its relayed call: the ledger is asked when a block was read here, and now and then in case another process reads. */
import type { Database } from '../../ledger/database/database.ts';
import { type RelayProgress, readRelays, relaysOf } from '../../ledger/relay/queued-relays.ts';
import { recentBlocks } from '../../ledger/transactions/followed-blocks.ts';
import type { Log } from '../../lib/log.ts';
import { within } from '../../lib/timers.ts';
import { createLedgerLooks } from './waiters.ts';

export interface RelayWaiters {
  /** A block was read that holds this transaction of a gas wallet; without one, any call may be in a block by now. */
  look(transactionId?: string): void;
  /** Resolves when a block holds the call, or with how far it has come when `timeoutMs` of real time have passed. */
  waitFor(wait: { id: string; timeoutMs: number }): Promise<RelayProgress | undefined>;
  isAwaited(): boolean;
  stop(): void;
}

/** Whether a block holds the call. */
export const isIncluded = ({ status }: Pick<RelayProgress, 'status'>) =>
  status === 'included' || status === 'final';

/** One per process. */
export function createRelayWaiters(deps: { database: Database; log: Log; pollMs: number }): RelayWaiters {
  const { db } = deps.database;
  const waiters = new Map<string, (progress: RelayProgress) => void>();
  const isAwaited = () => waiters.size > 0;
  const tell = (calls: RelayProgress[]) => {
    for (const call of calls) if (isIncluded(call)) waiters.get(call.id)?.(call);
  };
  /** Transactions that blocks have shown, and that were not asked about yet. */
  let shown: string[] = [];
  /** Whom the newest block of the ledger may hold, as far as is known here: all that wait, or those that came since it was looked at. */
  let anybody = true;
  let newcomers: string[] = [];
  let lookedAt: string | undefined;

  /** Another process may have read a block: its calls are all that can have come further. */
  const askAboutWaiting = async () => {
    const [newest] = anybody ? [] : await recentBlocks(db, 1);
    const isSame = newest !== undefined && newest.hash === lookedAt;
    const ids = isSame ? newcomers : [...waiters.keys()];
    anybody = false;
    newcomers = [];
    lookedAt = undefined;
    tell(await readRelays(db, ids));
    lookedAt = newest?.hash;
  };
  const looks = createLedgerLooks({
    what: 'waiting calls',
    async ask() {
      const transactionIds = shown;
      shown = [];
      if (transactionIds.length > 0) tell(await relaysOf(db, transactionIds));
      else await askAboutWaiting();
    },
    isAwaited,
    pollMs: deps.pollMs,
    log: deps.log,
  });
  return {
    look(transactionId) {
      if (transactionId === undefined) anybody = true;
      else if (isAwaited()) shown.push(transactionId);
      looks.look();
    },
    async waitFor({ id, timeoutMs }) {
      newcomers.push(id);
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
