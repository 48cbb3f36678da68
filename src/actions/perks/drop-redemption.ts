/** Gives up a redemption that waits, for whoever runs the service. */
import type { Database } from '../../ledger/database/database.ts';
import { findListedRedemption } from '../../ledger/perks/redemption-codes.ts';
import { DROPPED, giveUpRedemption } from '../../ledger/perks/redemption-queue.ts';
import { type ShownRedemption, stateOf } from './list-redemptions.ts';

export type DropRefusal =
  | { code: 'redemption_not_found'; name: string }
  | { code: 'redemption_not_waiting'; name: string; state: 'sent' | 'redeemed' | 'failed' };

/** RWT and stock that were kept for it are free again. One that a transaction carries is left to its block. */
export async function dropRedemption(
  { database: { db } }: { database: Database },
  id: string,
): Promise<ShownRedemption | { refusal: DropRefusal }> {
  const before = await findListedRedemption(db, id);
  if (!before) return { refusal: { code: 'redemption_not_found', name: id } };
  const isDropped = await giveUpRedemption(db, { key: before.redemption.key, failure: DROPPED });
  const after = (await findListedRedemption(db, id)) ?? before;
  const state = stateOf(after);
  if (isDropped) return { ...after, state };
  const is = state === 'failed' ? 'failed' : state === 'pending' ? 'sent' : 'redeemed';
  return { refusal: { code: 'redemption_not_waiting', name: id, state: is } };
}
