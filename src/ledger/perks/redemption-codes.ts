/** Confirmation codes of redemptions, as brands look at them. */
import { and, desc, eq, isNull } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { perks } from '../schema/engagement/perks.ts';
import { redemptions } from '../schema/engagement/redemptions.ts';
import { transactions } from '../schema/transactions.ts';

/** The redemption of a brand that has this code, with what became of it; undefined also for one that came to nothing. */
export async function findByCode(db: Queries, { brandId, code }: { brandId: BrandId; code: string }) {
  const [found] = await db
    .select({
      redemption: redemptions,
      perkName: perks.name,
      status: transactions.status,
      outcome: transactions.outcome,
    })
    .from(redemptions)
    .leftJoin(perks, eq(perks.id, redemptions.perkId))
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        eq(redemptions.confirmationCode, code),
        eq(redemptions.brandId, brandId),
        isNull(redemptions.failure),
      ),
    );
  return found;
}

/** What is known of redemptions in a list. */
const listed = {
  redemption: redemptions,
  perkName: perks.name,
  status: transactions.status,
  outcome: transactions.outcome,
  transactionHash: transactions.hash,
};

export type ListedRedemption = Awaited<ReturnType<typeof listRedemptions>>[number];

/** Redemptions of a brand, or of all, newest first. */
export const listRedemptions = (db: Queries, of: { brandId?: BrandId | undefined; limit: number }) =>
  db
    .select(listed)
    .from(redemptions)
    .leftJoin(perks, eq(perks.id, redemptions.perkId))
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(of.brandId && eq(redemptions.brandId, of.brandId))
    .orderBy(desc(redemptions.createdAt), desc(redemptions.id))
    .limit(of.limit);

/** Marks a redemption's code as used; false when it is marked already, or the redemption came to nothing. */
export async function markUsed(db: Queries, { id, nowMs }: { id: string; nowMs: number }): Promise<boolean> {
  const rows = await db
    .update(redemptions)
    .set({ usedAt: nowMs })
    .where(and(eq(redemptions.id, id), isNull(redemptions.usedAt), isNull(redemptions.failure)))
    .returning({ id: redemptions.id });
  return rows.length === 1;
}
