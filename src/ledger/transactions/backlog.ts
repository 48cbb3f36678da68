/** How much chain work is waiting, and which processes hold the lanes. */
import { and, asc, count, desc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { rewards } from '../schema/rewards.ts';
import { attempts, followedBlocks, lanes, retiredLanes, transactions } from '../schema/transactions.ts';

/** How much waits, and since when the oldest of it does. */
export interface Backlog {
  waiting: number;
  oldestAt: number | undefined;
}

/** Of a row with a count and a minimum, which Postgres gives as text. */
export const backlogOf = (
  row: { waiting: number; oldestAt: string | number | null } | undefined,
): Backlog => ({
  waiting: row?.waiting ?? 0,
  oldestAt: row?.oldestAt == null ? undefined : Number(row.oldestAt),
});

/** How many rewards wait for a transaction, and since when the oldest does. */
export async function waitingBacklog(db: Queries): Promise<Backlog> {
  const [row] = await db
    .select({ waiting: count(), oldestAt: sql<string | number | null>`min(${rewards.createdAt})` })
    .from(rewards)
    .where(and(isNull(rewards.transactionId), isNull(rewards.failure)));
  return backlogOf(row);
}

/** Transactions that are not final, by account, purpose and status. */
export const openTransactions = (db: Queries) =>
  db
    .select({
      lane: transactions.lane,
      purpose: transactions.purpose,
      status: transactions.status,
      count: count(),
    })
    .from(transactions)
    .where(sql`status <> 'final'`)
    .groupBy(transactions.lane, transactions.purpose, transactions.status);

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

/** The sending accounts with what they have under way, the busiest first. `total` counts those beyond the limit too. */
export const busiestLanes = (db: Queries, limit: number) => {
  const of = sql`${transactions.lane} = ${lanes.address}`;
  const underWay = sql<number>`(select count(*) from ${transactions} where ${of}
    and ${transactions.status} <> 'final' and ${transactions.status} in ('stored', 'sent'))`.mapWith(Number);
  return db
    .select({
      address: lanes.address,
      purpose: lanes.purpose,
      owner: lanes.owner,
      epoch: lanes.epoch,
      leaseUntil: lanes.leaseUntil,
      underWay,
      notFinal:
        sql<number>`(select count(*) from ${transactions} where ${of} and ${transactions.status} <> 'final')`.mapWith(
          Number,
        ),
      lastNonce: sql<
        number | null
      >`(select max(${transactions.nonce}) from ${transactions} where ${of})`.mapWith((found) =>
        found === null ? null : Number(found),
      ),
      total: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(lanes)
    .where(sql`${lanes.address} not in (select ${retiredLanes.lane} from ${retiredLanes})`)
    .orderBy(desc(underWay), asc(lanes.address))
    .limit(limit);
};

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
