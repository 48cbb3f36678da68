/** Which brands know a user: those that rewarded them, or asked for their wallet with their key. */
import { sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { rewards } from '../schema/rewards.ts';
import { pregeneratedUsers, wallets } from '../schema/wallets.ts';

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
  const keys = email === undefined ? addresses : [email, ...addresses];
  const rows = await knowing(db, { brandIds, addresses, keys: JSON.stringify(keys.map((key) => [key])) });
  const known = new Set(rows.map(({ brandId }) => brandId));
  return brandIds.filter((brandId) => known.has(brandId));
}

const knowing = preparedQuery(
  (db, of: Of<{ brandIds: BrandId[]; keys: string; addresses: `0x${string}`[] }>) => {
    const keys = sql`(
      select named.user_key from ${jsonRows('named', of.keys, { user_key: 'text' })}
      union
      select ${wallets.userKey} from ${wallets} where ${isOneOf(wallets.address, of.addresses)}
    )`;
    return db.select({ brandId: sql<BrandId>`known.brand_id` }).from(sql`(
      select ${rewards.brandId} as brand_id from ${rewards}
      where ${rewards.userKey} in ${keys} and ${isOneOf(rewards.brandId, of.brandIds)}
      union
      select ${pregeneratedUsers.brandId} from ${pregeneratedUsers}
      where ${pregeneratedUsers.userKey} in ${keys} and ${isOneOf(pregeneratedUsers.brandId, of.brandIds)}
    ) as known`);
  },
);
