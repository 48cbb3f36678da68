/** How far a reward is on its way to the chain, by its row and the one of its transaction. */
import type { findReward } from '../../ledger/rewards/rewards.ts';
import type { Hex } from '../../lib/hex.ts';

/** A reward with the transaction that carries it. */
type Found = NonNullable<Awaited<ReturnType<typeof findReward>>>;

interface Progress {
  status: 'waiting' | 'sent' | 'included' | 'final' | 'failed';
  transactionHash: Hex | null;
  blockNumber: number | null;
}

/** How far a reward is. */
export function rewardProgress({ reward, transaction }: Found): Progress {
  const transactionHash = transaction?.hash ?? null;
  const blockNumber = transaction?.blockNumber ?? null;
  if (reward.failure !== null) return { status: 'failed', transactionHash, blockNumber };
  // A transaction without effect is followed by another, whose hash nobody knows yet.
  const isWithoutEffect = transaction?.outcome === 'reverted' || transaction?.outcome === 'noop';
  if (!transaction || transaction.status === 'stored' || isWithoutEffect)
    return { status: 'waiting', transactionHash: null, blockNumber: null };
  return { status: transaction.status, transactionHash, blockNumber };
}
