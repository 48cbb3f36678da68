/** Facts of one brand that a consumer could not digest: kept aside in their order, so that the others need not wait. */
import { and, asc, count, eq, lte } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { consumerSetAside } from '../schema/consumers.ts';

export type SetAside = typeof consumerSetAside.$inferSelect;

const { consumer, brandId, upToPosition, nextTryAt } = consumerSetAside;

/** Brands with facts that wait, by consumer: what comes for them waits behind those. */
export async function brandsAside(tx: Queries, consumers: string[]): Promise<Map<string, Set<BrandId>>> {
  const brands = new Map<string, Set<BrandId>>();
  for (const row of await asideOf(tx, { consumers }))
    brands.set(row.consumer, (brands.get(row.consumer) ?? new Set()).add(row.brandId));
  return brands;
}

const asideOf = preparedQuery((db, of: Of<{ consumers: string[] }>) =>
  db.selectDistinct({ consumer, brandId }).from(consumerSetAside).where(isOneOf(consumer, of.consumers)),
);

/** Sets facts aside, in the commit that moves the consumer past them. */
export async function setAside(tx: Queries, rows: SetAside[]): Promise<void> {
  if (rows.length > 0) await tx.insert(consumerSetAside).values(rows);
}

/** The facts of a brand that wait first, of those that are due; locked until the commit. */
export async function dueAside(tx: Queries, of: { nowMs: number }): Promise<SetAside | undefined> {
  const [due] = await tx
    .select()
    .from(consumerSetAside)
    .where(lte(nextTryAt, of.nowMs))
    .orderBy(asc(nextTryAt), asc(upToPosition))
    .limit(1)
    .for('update');
  if (!due) return undefined;
  // Those of a brand have their effect in their order.
  const [first] = await tx
    .select()
    .from(consumerSetAside)
    .where(and(eq(consumer, due.consumer), eq(brandId, due.brandId)))
    .orderBy(asc(upToPosition))
    .limit(1)
    .for('update');
  return first;
}

const isRow = (row: SetAside) =>
  and(eq(consumer, row.consumer), eq(brandId, row.brandId), eq(upToPosition, row.upToPosition));

/** They have had their effect; the brand's next ones are due at once. */
export async function forgetAside(tx: Queries, row: SetAside): Promise<void> {
  await tx.delete(consumerSetAside).where(isRow(row));
  await tx
    .update(consumerSetAside)
    .set({ nextTryAt: 0 })
    .where(and(eq(consumer, row.consumer), eq(brandId, row.brandId)));
}

/** They could not be digested once more; with them, all of the brand's wait until `nextTryAt`. */
export async function postponeAside(
  tx: Queries,
  row: SetAside,
  next: Pick<SetAside, 'nextTryAt' | 'error'>,
): Promise<void> {
  await tx
    .update(consumerSetAside)
    .set({ nextTryAt: next.nextTryAt })
    .where(and(eq(consumer, row.consumer), eq(brandId, row.brandId)));
  await tx
    .update(consumerSetAside)
    .set({ tries: row.tries + 1, error: next.error })
    .where(isRow(row));
}

/** How many pieces wait, by consumer and brand. */
export const asideCounts = (db: Queries) =>
  db.select({ consumer, brandId, pieces: count() }).from(consumerSetAside).groupBy(consumer, brandId);
