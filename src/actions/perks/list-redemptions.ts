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

/** Of the brand that is named, or of all; newest first. */
export async function showRedemptions(
  { database: { db } }: { database: Database },
  { brand: name, limit }: { brand: string | undefined; limit: number },
): Promise<{ redemptions: ShownRedemption[] } | { refusal: { code: 'brand_not_found'; name: string } }> {
  const brand = name === undefined ? undefined : await findNamed(db, name);
  if (name !== undefined && !brand) return { refusal: { code: 'brand_not_found', name } };
  const rows = await listRedemptions(db, { brandId: brand?.brandId, limit });
  return { redemptions: rows.map((row) => ({ ...row, state: stateOf(row) })) };
}

function stateOf({ redemption, ...transaction }: ListedRedemption): RedemptionState {
  if (redemption.failure !== null || isWithoutEffect(transaction)) return 'failed';
  if (redemption.usedAt !== null) return 'used';
  return isRedeemed(transaction) ? 'valid' : 'pending';
}
