/** How much chain work is waiting, and which processes hold the lanes. */
import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { rewards } from '../schema/rewards.ts';
import { attempts, followedBlocks, lanes, retiredLanes, transactions } from '../schema/transactions.ts';

/** How many rewards wait for a transaction, and since when the oldest does. */
export async function waitingBacklog(
  db: Queries,
): Promise<{ waiting: number; oldestAt: number | undefined }> {
  const [row] = await db
    .select({ waiting: count(), oldestAt: sql<string | number | null>`min(${rewards.createdAt})` })
    .from(rewards)
    .where(and(isNull(rewards.transactionId), isNull(rewards.failure)));
  const oldestAt = row?.oldestAt ?? undefined;
  return { waiting: row?.waiting ?? 0, oldestAt: oldestAt === undefined ? undefined : Number(oldestAt) };
}

/** Transactions that are not final, by purpose and status. */
export const openTransactions = (db: Queries) =>
  db
    .select({ purpose: transactions.purpose, status: transactions.status, count: count() })
    .from(transactions)
    .where(sql`status <> 'final'`)
    .groupBy(transactions.purpose, transactions.status);

/** The signed bytes of payouts that no block is known to hold; at most `limit`. */
export const payoutsInFlight = (db: Queries, limit: number) =>
  db
    .select({ raw: attempts.raw })
    .from(transactions)
    .innerJoin(attempts, eq(attempts.hash, transactions.hash))
    .where(
      and(
        eq(transactions.purpose, 'payout'),
        inArray(transactions.status, ['stored', 'sent']),
        isNull(transactions.blockNumber),
        // Follows from the status; said for SQLite, which then takes the index that has only those.
        sql`${transactions.status} <> 'final'`,
      ),
    )
    .limit(limit);

/** The sending accounts, without those that are retired. */
export const everyLane = (db: Queries) =>
  db
    .select()
    .from(lanes)
    .where(sql`${lanes.address} not in (select ${retiredLanes.lane} from ${retiredLanes})`)
    .orderBy(asc(lanes.address));

/** Lanes with transactions that are not final. */
export const openLanes = (db: Queries) =>
  db
    .selectDistinct({ lane: transactions.lane })
    .from(transactions)
    .where(sql`${transactions.status} <> 'final'`);

/** How many transactions of a lane are not final. */
export async function openOf(db: Queries, lane: `0x${string}`): Promise<number> {
  const [row] = await db
    .select({ open: count() })
    .from(transactions)
    .where(and(eq(transactions.lane, lane), sql`${transactions.status} <> 'final'`));
  return row?.open ?? 0;
}

/** The newest block that the follower has read; undefined before the first. */
export async function newestFollowed(db: Queries): Promise<number | undefined> {
  const [row] = await db
    .select({ number: sql<string | number | null>`max(${followedBlocks.number})` })
    .from(followedBlocks);
  const number = row?.number ?? undefined;
  return number === undefined ? undefined : Number(number);
}
