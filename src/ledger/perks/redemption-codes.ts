/** Confirmation codes of redemptions, as brands look at them. */
import { and, asc, desc, eq, isNull } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { perks, redemptions } from '../schema/engagement/perks.ts';
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

/** Redemptions of a brand, or of all, newest first; of those that wait, the oldest first. */
export const listRedemptions = (
  db: Queries,
  of: { brandId?: BrandId | undefined; limit: number; isWaiting?: boolean },
) =>
  db
    .select(listed)
    .from(redemptions)
    .leftJoin(perks, eq(perks.id, redemptions.perkId))
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        of.brandId && eq(redemptions.brandId, of.brandId),
        of.isWaiting ? and(isNull(redemptions.transactionId), isNull(redemptions.failure)) : undefined,
      ),
    )
    .orderBy(
      ...(of.isWaiting
        ? [asc(redemptions.createdAt), asc(redemptions.id)]
        : [desc(redemptions.createdAt), desc(redemptions.id)]),
    )
    .limit(of.limit);

/** One of them, by its id. */
export async function findListedRedemption(db: Queries, id: string): Promise<ListedRedemption | undefined> {
  const [found] = await db
    .select(listed)
    .from(redemptions)
    .leftJoin(perks, eq(perks.id, redemptions.perkId))
    .leftJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(eq(redemptions.id, id));
  return found;
}

/** Marks a redemption's code as used; false when it is marked already, or the redemption came to nothing. */
export async function markUsed(db: Queries, { id, nowMs }: { id: string; nowMs: number }): Promise<boolean> {
  const rows = await db
    .update(redemptions)
    .set({ usedAt: nowMs })
    .where(and(eq(redemptions.id, id), isNull(redemptions.usedAt), isNull(redemptions.failure)))
    .returning({ id: redemptions.id });
  return rows.length === 1;
}
