/** The redemptions of a brand's perks, for whoever runs the service. */
import type { Database } from '../../ledger/database/database.ts';
import { type ListedRedemption, listRedemptions } from '../../ledger/perks/redemption-codes.ts';
import { isRedeemed, isWithoutEffect } from '../../ledger/perks/redemptions.ts';
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
