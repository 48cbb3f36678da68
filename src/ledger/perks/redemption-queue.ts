/** What the redeem lane works off: redemptions, bound to the transactions that carry them. */
import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { redemptions } from '../schema/engagement/redemptions.ts';
import { transactions } from '../schema/transactions.ts';
import type { Transaction } from '../transactions/transactions.ts';
import type { Redemption } from './redemptions.ts';

type Hex = `0x${string}`;

const isWaiting = and(isNull(redemptions.transactionId), isNull(redemptions.failure));

/** Redemptions that no transaction carries and nobody gave up, oldest first. */
export const waitingRedemptions = (db: Queries, limit: number): Promise<Redemption[]> =>
  db
    .select()
    .from(redemptions)
    .where(isWaiting)
    .orderBy(asc(redemptions.createdAt), asc(redemptions.id))
    .limit(limit);

/** How many redemptions wait for a transaction, and since when the oldest does. */
export async function redemptionBacklog(
  db: Queries,
): Promise<{ waiting: number; oldestAt: number | undefined }> {
  const [row] = await db
    .select({ waiting: count(), oldestAt: sql<string | number | null>`min(${redemptions.createdAt})` })
    .from(redemptions)
    .where(isWaiting);
  const oldestAt = row?.oldestAt ?? undefined;
  return { waiting: row?.waiting ?? 0, oldestAt: oldestAt === undefined ? undefined : Number(oldestAt) };
}

/** Binds a redemption to the transaction that carries it. Throws when it is bound or given up already. */
export async function bindRedemption(
  tx: Queries,
  { key, transactionId }: { key: Hex; transactionId: string },
): Promise<void> {
  const rows = await tx
    .update(redemptions)
    .set({ transactionId })
    .where(and(eq(redemptions.key, key), isWaiting))
    .returning({ key: redemptions.key });
  if (rows.length !== 1) throw new Error(`the redemption ${key} was bound to a transaction before`);
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
