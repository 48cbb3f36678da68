/**
 * The redemptions of a brand's perks, for whoever runs the service or stands at the counter: listed, dropped, their
 * codes checked.
 */
import type { Database } from '../../ledger/database/database.ts';
import {
  findByCode,
  findListedRedemption,
  type ListedRedemption,
  listRedemptions,
  markUsed,
} from '../../ledger/perks/redemption-codes.ts';
import { DROPPED, giveUpRedemption } from '../../ledger/perks/redemption-queue.ts';
import { isRedeemed, isWithoutEffect } from '../../ledger/perks/redemptions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { findNamed } from '../brands/named-brand.ts';

/** `pending`: no block shows it yet · `failed`: it came to nothing, and debited nothing. */
export type RedemptionState = 'pending' | 'valid' | 'used' | 'failed';

export interface ShownRedemption extends ListedRedemption {
  state: RedemptionState;
}

/** Of the brand that is named, or of all; newest first. `isWaiting`: those that no transaction carries, oldest first. */
export async function showRedemptions(
  { database: { db } }: { database: Database },
  { brand: name, limit, isWaiting }: { brand: string | undefined; limit: number; isWaiting?: boolean },
): Promise<{ redemptions: ShownRedemption[] } | { refusal: { code: 'brand_not_found'; name: string } }> {
  const brand = name === undefined ? undefined : await findNamed(db, name);
  if (name !== undefined && !brand) return { refusal: { code: 'brand_not_found', name } };
  const rows = await listRedemptions(db, { brandId: brand?.brandId, limit, isWaiting: isWaiting === true });
  return { redemptions: rows.map((row) => ({ ...row, state: stateOf(row) })) };
}

export function stateOf({ redemption, ...transaction }: ListedRedemption): RedemptionState {
  if (redemption.failure !== null || isWithoutEffect(transaction)) return 'failed';
  if (redemption.usedAt !== null) return 'used';
  return isRedeemed(transaction) ? 'valid' : 'pending';
}

// Gives up a redemption that waits, for whoever runs the service.

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

// What a brand does with the code that a user shows: looks at it, and marks it as used, once.

/** A redemption as its brand sees it. `pending`: no block shows it yet, so that nothing may be handed out for it. */
export interface CheckedCode {
  state: 'valid' | 'used' | 'pending';
  confirmationCode: string;
  redemptionId: string;
  perkId: string;
  perkName: string | null;
  user: string;
  cost: number;
  createdAt: number;
  usedAt: number | null;
}

/** Changes nothing. A code of another brand, or of a redemption that came to nothing, counts as unknown. */
export async function checkCode(
  { database: { db } }: { database: Database },
  { brandId, code }: { brandId: BrandId; code: string },
): Promise<CheckedCode | undefined> {
  const found = await findByCode(db, { brandId, code });
  if (!found) return undefined;
  const { redemption, perkName } = found;
  const { confirmationCode, id, perkId, userKey, userEmail, cost, createdAt, usedAt } = redemption;
  const state = usedAt !== null ? 'used' : isRedeemed(found) ? 'valid' : 'pending';
  return {
    state,
    confirmationCode,
    redemptionId: id,
    perkId,
    perkName,
    cost,
    createdAt,
    usedAt,
    user: userEmail ?? userKey,
  };
}

/** Marks a valid code as used: `used` is true for one caller, however many processes are asked at once. */
export async function useCode(
  deps: { database: Database; clock: Pick<Clock, 'now'> },
  of: { brandId: BrandId; code: string },
): Promise<(CheckedCode & { used: boolean }) | undefined> {
  const before = await checkCode(deps, of);
  if (before?.state !== 'valid') return before && { ...before, used: false };
  const marked = { id: before.redemptionId, nowMs: deps.clock.now() };
  const used = await markUsed(deps.database.db, marked);
  const after = await checkCode(deps, of);
  return after && { ...after, used };
}
