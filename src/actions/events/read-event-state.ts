/** How far an event's reward is, and which transaction pays it now. */
import type { Database } from '../../ledger/database/database.ts';
import { findReward } from '../../ledger/rewards/rewards.ts';
import type { Hex } from '../../lib/hex.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Undefined when no reward has this id. */
export async function readEventState(deps: { database: Database }, eventId: string) {
  if (!UUID.test(eventId)) return undefined;
  const row = await findReward(deps.database.db, eventId.toLowerCase());
  if (!row) return undefined;
  const { id, brandId, eventType, amount, wallet, failure } = row.reward;
  return {
    eventId: id,
    brandId,
    eventType,
    rewardAmount: amount,
    walletAddress: wallet,
    reason: failure,
    ...progressOf(row),
  };
}

export type ReadEventState = NonNullable<Awaited<ReturnType<typeof readEventState>>>;

type Found = NonNullable<Awaited<ReturnType<typeof findReward>>>;

interface Progress {
  status: 'waiting' | 'sent' | 'included' | 'final' | 'failed';
  transactionHash: Hex | null;
  blockNumber: number | null;
}

function progressOf({ reward, transaction }: Found): Progress {
  const transactionHash = transaction?.hash ?? null;
  const blockNumber = transaction?.blockNumber ?? null;
  if (reward.failure !== null) return { status: 'failed', transactionHash, blockNumber };
  // A transaction without effect is followed by another, whose hash nobody knows yet.
  const isWithoutEffect = transaction?.outcome === 'reverted' || transaction?.outcome === 'noop';
  if (!transaction || transaction.status === 'stored' || isWithoutEffect)
    return { status: 'waiting', transactionHash: null, blockNumber: null };
  return { status: transaction.status, transactionHash, blockNumber };
}
