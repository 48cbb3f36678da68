/** What a brand does with the code that a user shows: looks at it, and marks it as used, once. */
import type { Database } from '../../ledger/database/database.ts';
import { findByCode, markUsed } from '../../ledger/perks/redemption-codes.ts';
import { isRedeemed } from '../../ledger/perks/redemptions.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

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
