/** What each brand may still promise: its deposits in escrow, less every reward promised so far. */
import { and, eq, gte, inArray, lte, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brandFunds, movements } from '../schema/rewards.ts';

/** RWT that each brand has not promised yet, with the rows locked until the commit, always in the same order. */
export async function lockAvailableFunds(tx: Queries, brandIds: BrandId[]): Promise<Map<BrandId, number>> {
  const rows = await lockFunds(tx, { brandIds });
  return new Map(rows.map((row) => [row.brandId, row.deposited - row.promised]));
}

/** The same, with how often each brand's aliases were changed by now. */
export async function lockFundsAndAliases(
  tx: Queries,
  brandIds: BrandId[],
): Promise<{ funds: Map<BrandId, number>; aliases: Map<BrandId, number> }> {
  const rows = await lockFunds(tx, { brandIds });
  return {
    funds: new Map(rows.map((row) => [row.brandId, row.deposited - row.promised])),
    aliases: new Map(rows.map((row) => [row.brandId, row.aliases])),
  };
}

const lockFunds = preparedQuery((db, of: Of<{ brandIds: string[] }>) =>
  db
    .select()
    .from(brandFunds)
    .where(isOneOf(brandFunds.brandId, of.brandIds))
    .orderBy(brandFunds.brandId)
    .for('update'),
);

/** The same without a lock, for who only wants to know. */
export async function readAvailableFunds(db: Queries, brandIds: BrandId[]): Promise<Map<BrandId, number>> {
  const rows = await fundsOf(db, { brandIds });
  return new Map(rows.map((row) => [row.brandId, row.deposited - row.promised]));
}

const fundsOf = preparedQuery((db, of: Of<{ brandIds: string[] }>) =>
  db.select().from(brandFunds).where(isOneOf(brandFunds.brandId, of.brandIds)),
);

/** Those of the brands whose rows another transaction has locked now; none where the database has one writer at a time. */
export async function lockedFunds(tx: Queries, brandIds: BrandId[]): Promise<Set<BrandId>> {
  const ofBrands = inArray(brandFunds.brandId, brandIds);
  const ids = { brandId: brandFunds.brandId };
  const all = await tx.select(ids).from(brandFunds).where(ofBrands);
  const free = await tx.select(ids).from(brandFunds).where(ofBrands).for('update', { skipLocked: true });
  const freeIds = new Set(free.map(({ brandId }) => brandId));
  return new Set(all.flatMap(({ brandId }) => (freeIds.has(brandId) ? [] : [brandId])));
}

/**
 * Sets these amounts of brands' escrow aside for rewards, one for each brand, whose rows are locked. False when a brand has
 * less than that: then nothing is set aside for it, and the caller takes back what was for the others.
 */
export async function promiseFunds(
  tx: Queries,
  promises: { brandId: BrandId; amount: number }[],
): Promise<boolean> {
  const rows = promises.map(({ brandId, amount }) => [brandId, amount]);
  const promised = await promiseAmounts(tx, { promises: JSON.stringify(rows) });
  return promised.length === promises.length;
}

const promiseAmounts = preparedQuery((db, of: Of<{ promises: string }>) =>
  db
    .update(brandFunds)
    .set({ promised: sql`${brandFunds.promised} + wish.amount` })
    .from(jsonRows('wish', of.promises, { brand_id: 'text', amount: 'bigint' }))
    .where(
      and(
        eq(brandFunds.brandId, sql`wish.brand_id`),
        lte(brandFunds.promised, sql`${brandFunds.deposited} - wish.amount`),
      ),
    )
    .returning({ brandId: brandFunds.brandId }),
);

/** Opens a brand's account, empty; a brand that has one keeps it. */
export async function openFunds(db: Queries, brandId: BrandId): Promise<void> {
  await db.insert(brandFunds).values({ brandId, deposited: 0, promised: 0 }).onConflictDoNothing();
}

type Movement = typeof movements.$inferInsert;

/** Records a movement that the chain shows, once: a log that was booked before changes nothing. Returns whether it was new. */
export async function bookMovement(tx: Queries, movement: Movement): Promise<boolean> {
  const booked = await tx
    .insert(movements)
    .values(movement)
    .onConflictDoNothing()
    .returning({ id: movements.id });
  if (booked.length === 0) return false;
  const change = movement.kind === 'withdrawal' ? -movement.amount : movement.amount;
  await tx
    .insert(brandFunds)
    .values({ brandId: movement.brandId, deposited: change, promised: 0 })
    .onConflictDoUpdate({
      target: brandFunds.brandId,
      set: { deposited: sql`${brandFunds.deposited} + ${change}` },
    });
  return true;
}

/** Takes back the movements that were seen in blocks from `blockNumber` on. */
export async function unbookMovementsFrom(tx: Queries, blockNumber: number): Promise<void> {
  const lost = await tx.delete(movements).where(gte(movements.blockNumber, blockNumber)).returning();
  for (const { brandId, kind, amount } of lost) {
    const change = kind === 'withdrawal' ? amount : -amount;
    await tx
      .update(brandFunds)
      .set({ deposited: sql`${brandFunds.deposited} + ${change}` })
      .where(eq(brandFunds.brandId, brandId));
  }
}
