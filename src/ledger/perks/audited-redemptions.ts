/** Redemptions in pages, to compare them with the chain. Every page is one statement. */
import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { redemptions } from '../schema/engagement/redemptions.ts';
import { transactions } from '../schema/transactions.ts';
import type { Redemption } from './redemptions.ts';

type Hex = `0x${string}`;

/** What the ledger expects under these keys; keys that it does not know are left out. */
export async function expectedRedemptions(db: Queries, keys: Hex[]): Promise<Map<Hex, Redemption>> {
  const rows = await inChunks(keys, (some) =>
    db.select().from(redemptions).where(inArray(redemptions.key, some)),
  );
  return new Map(rows.map((row) => [row.key, row]));
}

/** Redemptions whose transaction a block holds and counts as done, by key; the page after `after`. */
export async function doneRedemptions(
  db: Queries,
  page: { after: string; limit: number },
): Promise<(Redemption & { hash: Hex; blockNumber: number })[]> {
  const rows = await db
    .select({
      redemption: redemptions,
      hash: transactions.hash,
      blockNumber: sql<number>`${transactions.blockNumber}`.mapWith(Number),
    })
    .from(redemptions)
    .innerJoin(transactions, eq(transactions.id, redemptions.transactionId))
    .where(
      and(
        eq(transactions.outcome, 'done'),
        isNotNull(transactions.blockNumber),
        gt(redemptions.key, page.after as Hex),
      ),
    )
    .orderBy(asc(redemptions.key))
    .limit(page.limit);
  return rows.map(({ redemption, hash, blockNumber }) => ({ ...redemption, hash, blockNumber }));
}
