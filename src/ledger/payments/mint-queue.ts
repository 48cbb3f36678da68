/** What the mint lane works off: mints of paid sessions and of operators, bound to the transactions that carry them. */
import { and, asc, count, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { type Of, statement } from '../database/statement.ts';
import { type MintKind, mints, operatorMints } from '../schema/payments.ts';

type Hex = `0x${string}`;

/** RWT that the sale is to mint under a key, to an account (`wallet`) or into a brand's escrow balance (`escrow`). */
export interface QueuedMint {
  key: Hex;
  kind: MintKind;
  recipient: Hex;
  amount: number;
  createdAt: number;
}

/** Transactions without effect that a mint may be bound to, one after the other, before it is given up. */
const TRIES_MAX = 5;

const ofSessions = and(isNull(mints.transactionId), isNull(mints.failure));
const ofOperators = and(
  inArray(operatorMints.kind, ['wallet', 'escrow']),
  isNull(operatorMints.transactionId),
  isNull(operatorMints.failure),
);

/** Mints that no transaction carries and nobody gave up, oldest first. */
export async function waitingMints(db: Queries, limit: number): Promise<QueuedMint[]> {
  const paid = await waitingOfSessions(db, { limit });
  const byHand = await waitingOfOperators(db, { limit });
  const waiting = [
    ...paid.map(({ key, kind, brandId, wallet, rwtAmount, createdAt }) => ({
      ...{ key, kind, createdAt, amount: rwtAmount },
      recipient: kind === 'wallet' ? wallet : brandId,
    })),
    ...byHand.map(({ key, kind, recipient, amount, createdAt }) => ({
      ...{ key, recipient, amount, createdAt },
      kind: kind === 'wallet' ? kind : ('escrow' as const),
    })),
  ];
  return waiting
    .sort((one, other) => one.createdAt - other.createdAt || (one.key < other.key ? -1 : 1))
    .slice(0, limit);
}

const waitingOfSessions = statement((db, of: Of<{ limit: number }>) =>
  db.select().from(mints).where(ofSessions).orderBy(asc(mints.createdAt), asc(mints.key)).limit(of.limit),
);
const waitingOfOperators = statement((db, of: Of<{ limit: number }>) =>
  db
    .select()
    .from(operatorMints)
    .where(ofOperators)
    .orderBy(asc(operatorMints.createdAt), asc(operatorMints.key))
    .limit(of.limit),
);

/** How many mints wait for a transaction, and since when the oldest does. */
export async function mintBacklog(db: Queries): Promise<{ waiting: number; oldestAt: number | undefined }> {
  const oldest = (column: typeof mints.createdAt | typeof operatorMints.createdAt) =>
    sql<string | number | null>`min(${column})`;
  const rows = [
    ...(await db
      .select({ waiting: count(), oldestAt: oldest(mints.createdAt) })
      .from(mints)
      .where(ofSessions)),
    ...(await db
      .select({ waiting: count(), oldestAt: oldest(operatorMints.createdAt) })
      .from(operatorMints)
      .where(ofOperators)),
  ];
  const times = rows.flatMap(({ oldestAt }) => (oldestAt === null ? [] : [Number(oldestAt)]));
  return {
    waiting: rows.reduce((sum, row) => sum + row.waiting, 0),
    oldestAt: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** Binds a mint to the transaction that carries it. Throws when it is bound or given up already. */
export async function bindMint(tx: Queries, bound: { key: Hex; transactionId: string }): Promise<void> {
  const { key, transactionId } = bound;
  const rows = [
    ...(await tx
      .update(mints)
      .set({ transactionId })
      .where(and(eq(mints.key, key), ofSessions))
      .returning({ key: mints.key })),
    ...(await tx
      .update(operatorMints)
      .set({ transactionId })
      .where(and(eq(operatorMints.key, key), ofOperators))
      .returning({ key: operatorMints.key })),
  ];
  if (rows.length !== 1) throw new Error(`the mint ${key} was bound to a transaction before`);
}

/** Gives up a mint that no transaction carries, since its call can never run. False when one carries it after all. */
export async function giveUpMint(db: Queries, given: { key: Hex; failure: string }): Promise<boolean> {
  const { key, failure } = given;
  const rows = [
    ...(await db
      .update(mints)
      .set({ failure })
      .where(and(eq(mints.key, key), ofSessions))
      .returning({ key: mints.key })),
    ...(await db
      .update(operatorMints)
      .set({ failure })
      .where(and(eq(operatorMints.key, key), ofOperators))
      .returning({ key: operatorMints.key })),
  ];
  return rows.length === 1;
}

/**
 * Settles mints whose transactions are final and had no effect: they wait again, and are given up after several tries. A
 * key that the sale had used before is no failure: its RWT is there.
 */
export async function settleMintQueue(tx: Queries, withoutEffect: string[]): Promise<void> {
  if (withoutEffect.length === 0) return;
  const again = (failedTries: typeof mints.failedTries | typeof operatorMints.failedTries) => ({
    transactionId: sql`case when ${failedTries} + 1 < ${TRIES_MAX} then null else transaction_id end`,
    failure: sql`case when ${failedTries} + 1 < ${TRIES_MAX} then null else 'reverted' end`,
    failedTries: sql`${failedTries} + 1`,
  });
  await tx.update(mints).set(again(mints.failedTries)).where(inArray(mints.transactionId, withoutEffect));
  await tx
    .update(operatorMints)
    .set(again(operatorMints.failedTries))
    .where(inArray(operatorMints.transactionId, withoutEffect));
}
