/** Which brands know a user: those that rewarded them, or asked for their wallet with their key. */
import { and, inArray } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { rewards } from '../schema/rewards.ts';
import { pregeneratedUsers } from '../schema/wallets.ts';
import { userKeysAt } from '../wallets/wallets.ts';

/**
 * Of these brands, those that know the user, in the order given. `email` is one that is proven; `addresses` are the
 * user's accounts, in every spelling that the ledger may have.
 */
export async function brandsThatKnow(
  db: Queries,
  brandIds: BrandId[],
  user: { email?: string | undefined; addresses: `0x${string}`[] },
): Promise<BrandId[]> {
  if (brandIds.length === 0) return [];
  const { email, addresses } = user;
  const ownWallets = await userKeysAt(db, addresses);
  const keys = [...new Set([...(email === undefined ? [] : [email]), ...addresses, ...ownWallets])];
  const [claimed, pregenerated] = await Promise.all([
    db
      .selectDistinct({ brandId: rewards.brandId })
      .from(rewards)
      .where(and(inArray(rewards.userKey, keys), inArray(rewards.brandId, brandIds))),
    db
      .select({ brandId: pregeneratedUsers.brandId })
      .from(pregeneratedUsers)
      .where(and(inArray(pregeneratedUsers.userKey, keys), inArray(pregeneratedUsers.brandId, brandIds))),
  ]);
  const known = new Set([...claimed, ...pregenerated].map(({ brandId }) => brandId));
  return brandIds.filter((brandId) => known.has(brandId));
}
