/** Lets a request wait for its reward's transaction: told directly by this process, or seen in the ledger when another one pays. */
import type { Database } from '../../ledger/database/database.ts';
import { type RewardProgress, readRewardProgress } from '../../ledger/rewards/rewards.ts';
import type { Log } from '../../lib/log.ts';
import { toldWithin } from '../../lib/timers.ts';
import type { BookedTransaction } from '../indexer/types.ts';
import { createLedgerLooks } from './waiters.ts';

/** How far a reward has to be before its request is answered. */
export type Milestone = 'sent' | 'included';

interface Waiter {
  until: Milestone;
  resolve: (progress: RewardProgress) => void;
}

/** Transactions whose rewards are known here at a time: more than any lane has in flight, also while it works off a backlog. */
const CARRIED_MAX = 1_000;

/** A transaction and the rewards in it. */
interface CarriedRewards {
  id: string;
  hash: `0x${string}`;
  rewardIds: string[];
}

const reached = (progress: RewardProgress, until: Milestone) => {
  if (progress.failure !== null) return true;
  // A transaction without effect is followed by another: the reward is still on its way.
  if (progress.status === 'included' || progress.status === 'final') return progress.outcome === 'done';
  return until === 'sent' && progress.status === 'sent';
};

/** One per process. `pollMs`: how often the ledger is asked about rewards that this process has not reported. */
export function createRewardWaiters(deps: { database: Database; log: Log; pollMs: number }) {
  const waiters = new Map<string, Waiter>();
  const rewardsOf = new Map<string, Omit<CarriedRewards, 'id'>>();

  const tell = (rewardId: string, progress: RewardProgress) => {
    const waiter = waiters.get(rewardId);
    if (!waiter || !reached(progress, waiter.until)) return;
    waiters.delete(rewardId);
    waiter.resolve(progress);
  };
  const isAwaited = () => waiters.size > 0;
  const { stop } = createLedgerLooks({
    what: 'waiting rewards',
    async ask() {
      for (const progress of await readRewardProgress(deps.database.db, [...waiters.keys()])) {
        tell(progress.rewardId, progress);
      }
    },
    isAwaited,
    pollMs: deps.pollMs,
    log: deps.log,
  });

  return {
    /** A stored transaction carries these rewards; said before it is sent, since a block may follow at once. */
    carried({ id, hash, rewardIds }: CarriedRewards) {
      if (!rewardIds.some((rewardId) => waiters.has(rewardId))) return;
      rewardsOf.set(id, { hash, rewardIds });
      // When another process reads the blocks, `included` is not announced here; the waiters learn it from the ledger.
      const [oldest] = rewardsOf.keys();
      if (rewardsOf.size > CARRIED_MAX && oldest !== undefined) rewardsOf.delete(oldest);
    },
    /** A node has taken the transaction. */
    sent({ id }: { id: string }) {
      const known = rewardsOf.get(id);
      for (const rewardId of known?.rewardIds ?? []) {
        tell(rewardId, { rewardId, hash: known?.hash ?? null, status: 'sent', outcome: null, failure: null });
      }
    },
    /** A block holds the transaction; `failures` are rewards that it did not pay. */
    included(transaction: BookedTransaction) {
      const { id, hash, outcome } = transaction;
      const known = rewardsOf.get(id);
      rewardsOf.delete(id);
      for (const rewardId of known?.rewardIds ?? []) {
        const failure = transaction.failures.get(rewardId) ?? null;
        tell(rewardId, { rewardId, hash, status: 'included', outcome, failure });
      }
    },
    /** Resolves when the reward has come that far, or with undefined when `timeoutMs` of real time have passed. */
    waitFor: ({
      rewardId,
      until,
      timeoutMs,
    }: {
      rewardId: string;
      until: Milestone;
      timeoutMs: number;
    }): Promise<RewardProgress | undefined> =>
      toldWithin(timeoutMs, (resolve) => {
        waiters.set(rewardId, { until, resolve });
        return () => waiters.delete(rewardId);
      }),
    /** Whether any request waits. */
    isAwaited,
    stop,
  };
}

export type RewardWaiters = ReturnType<typeof createRewardWaiters>;
