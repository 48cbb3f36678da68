/** How far an event's reward is, and which transaction pays it now. */
import type { Database } from '../../ledger/database/database.ts';
import { findReward } from '../../ledger/rewards/rewards.ts';
import { rewardProgress } from '../rewards/reward-progress.ts';

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
    ...rewardProgress(row),
  };
}

export type ReadEventState = NonNullable<Awaited<ReturnType<typeof readEventState>>>;
