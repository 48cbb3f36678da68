/** Keys with which a brand's own servers speak for it. The ledger holds digests only. */
import { and, eq, gt, isNull, or } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { type Of, preparedQuery } from '../database/prepared-query.ts';
import { brandKeys } from '../schema/brands.ts';

export type BrandKey = typeof brandKeys.$inferSelect;

/** The key of this id, unless it has expired. */
export async function findBrandKey(
  db: Queries,
  wanted: { keyId: string; nowMs: number },
): Promise<BrandKey | undefined> {
  const [row] = await validKey(db, wanted);
  return row;
}

const validKey = preparedQuery((db, of: Of<{ keyId: string; nowMs: number }>) =>
  db
    .select()
    .from(brandKeys)
    .where(
      and(eq(brandKeys.keyId, of.keyId), or(isNull(brandKeys.expiresAt), gt(brandKeys.expiresAt, of.nowMs))),
    ),
);

/** Adds a key; one of the same id keeps its place with the new digest. */
export async function saveBrandKey(db: Queries, key: BrandKey): Promise<void> {
  const { keyId: _, ...changed } = key;
  await db.insert(brandKeys).values(key).onConflictDoUpdate({ target: brandKeys.keyId, set: changed });
}

/** Makes every present key of a brand expire at the given time, or earlier where that was set already. */
export async function expireBrandKeys(db: Queries, brand: { brandId: BrandId; atMs: number }): Promise<void> {
  await db
    .update(brandKeys)
    .set({ expiresAt: brand.atMs })
    .where(
      and(
        eq(brandKeys.brandId, brand.brandId),
        or(isNull(brandKeys.expiresAt), gt(brandKeys.expiresAt, brand.atMs)),
      ),
    );
}
