/** What the redeem lane works off: redemptions, bound to the transactions that carry them. */
import { and, asc, count, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { atTime, type Of, preparedQuery } from '../database/prepared-query.ts';
import { redemptions } from '../schema/engagement/perks.ts';
import { transactions } from '../schema/transactions.ts';
import { type Backlog, backlogOf } from '../transactions/backlog.ts';
import { afterRefusal, isDue, type Pauses, placeInTurn, type Window } from '../transactions/refused-work.ts';
import type { Transaction } from '../transactions/transactions.ts';
import type { Redemption } from './redemptions.ts';

const isWaiting = and(isNull(redemptions.transactionId), isNull(redemptions.failure));

/** Redemptions that no transaction carries and nobody gave up, and that are due: brands in turn, of each the oldest first. */
export const waitingRedemptions = (db: Queries, { now, limit }: Window): Promise<Redemption[]> =>
  dueAt(now)(db, { limit });

const turn = placeInTurn(redemptions, {
  brand: sql`${redemptions.brandId}`,
  within: sql`${redemptions.createdAt}, ${redemptions.id}`,
});
const dueAt = atTime((now) =>
  preparedQuery((db, of: Of<{ limit: number }>) =>
    db
      .select()
      .from(redemptions)
      .where(and(isWaiting, isDue(redemptions, now)))
      .orderBy(asc(turn), asc(redemptions.createdAt), asc(redemptions.id))
      .limit(of.limit),
  ),
);

/** Notes that the chain refused a redemption, which waits. */
export async function noteRefusedRedemption(
  db: Queries,
  { key, ...refusal }: { key: Hex; now: SqlTime; pauses: Pauses; reason: string },
): Promise<void> {
  await db
    .update(redemptions)
    .set(afterRefusal(redemptions, refusal))
    // Another process may have noted the same.
    .where(and(eq(redemptions.key, key), isWaiting, isDue(redemptions, refusal.now)));
}

/** Lets a redemption wait for `pauseMs` that nobody has refused. */
export async function postponeRedemption(
  db: Queries,
  { key, now, pauseMs }: { key: Hex; now: SqlTime; pauseMs: number },
): Promise<void> {
  await db
    .update(redemptions)
    .set({ nextTryAt: sql`${now} + cast(${pauseMs} as bigint)` })
    .where(and(eq(redemptions.key, key), isWaiting, isDue(redemptions, now)));
}

/** The oldest redemption that waits since the chain refused it, with what the chain said last. */
export async function firstRefusedRedemption(db: Queries): Promise<{ key: Hex; reason: string } | undefined> {
  const [first] = await db
    .select({ key: redemptions.key, reason: redemptions.refusal })
    .from(redemptions)
    .where(and(isWaiting, gt(redemptions.refusals, 0)))
    .orderBy(asc(redemptions.createdAt), asc(redemptions.id))
    .limit(1);
  return first && { key: first.key, reason: first.reason ?? '' };
}

/** How many redemptions wait for a transaction, and since when the oldest does. */
export async function redemptionBacklog(db: Queries): Promise<Backlog> {
  const [row] = await db
    .select({ waiting: count(), oldestAt: sql<string | number | null>`min(${redemptions.createdAt})` })
    .from(redemptions)
    .where(isWaiting);
  return backlogOf(row);
}

/** Binds a redemption to the transaction that carries it. False when it is bound or given up already. */
export async function bindRedemption(
  tx: Queries,
  { key, transactionId }: { key: Hex; transactionId: string },
): Promise<boolean> {
  const rows = await tx
    .update(redemptions)
    .set({ transactionId })
    .where(and(eq(redemptions.key, key), isWaiting))
    .returning({ key: redemptions.key });
  return rows.length === 1;
}

/** Gives up a redemption that no transaction carries. False when one carries it after all. */
export async function giveUpRedemption(
  db: Queries,
  { key, failure }: { key: Hex; failure: string },
): Promise<boolean> {
  const rows = await db
    .update(redemptions)
    .set({ failure })
    .where(and(eq(redemptions.key, key), isWaiting))
    .returning({ key: redemptions.key });
  return rows.length === 1;
}

/** Why a redemption is given up that no transaction carried in time. */
export const EXPIRED = 'expired';
/** Why one is given up that whoever runs the service wants to be over. */
export const DROPPED = 'dropped by the operator';

/** Gives up redemptions that have waited for longer than `afterMs` by the ledger's clock. Returns their ids. */
export async function giveUpExpired(
  db: Queries,
  { now, afterMs }: { now: SqlTime; afterMs: number },
): Promise<string[]> {
  const rows = await expireAt(now)(db, { afterMs });
  return rows.map(({ id }) => id);
}

const expireAt = atTime((now) =>
  preparedQuery((db, of: Of<{ afterMs: number }>) =>
    db
      .update(redemptions)
      .set({ failure: EXPIRED })
      .where(and(isWaiting, lte(redemptions.waitingSince, sql`${now} - cast(${of.afterMs} as bigint)`)))
      .returning({ id: redemptions.id }),
  ),
);

/** A subquery: the block that holds the transaction of a redemption. */
const ofItsBlock = sql`(select ${transactions.blockNumber} from ${transactions} where ${transactions.id} = ${redemptions.transactionId})`;

/** Settles redemptions whose transactions are final: they are done, or came to nothing. */
export async function settleRedemptionQueue(
  tx: Queries,
  { transactions, nowMs }: { transactions: Pick<Transaction, 'id' | 'outcome'>[]; nowMs: number },
): Promise<void> {
  for (const [outcomes, failure] of [
    [['done'], null],
    [['reverted'], 'reverted'],
    [['noop', null], 'not_sent'],
  ] as const) {
    const ids = transactions.filter(({ outcome }) => outcomes.some((one) => one === outcome));
    if (ids.length === 0) continue;
    await tx
      .update(redemptions)
      .set({ settledAt: nowMs, failure, ...(failure === null && { shownFrom: ofItsBlock }) })
      .where(
        inArray(
          redemptions.transactionId,
          ids.map(({ id }) => id),
        ),
      );
  }
}
