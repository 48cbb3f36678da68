/** What the mint lane works off: mints of paid sessions and of operators, bound to the transactions that carry them. */
import { and, asc, count, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries, SqlTime } from '../database/database.ts';
import { atTime, type Of, preparedQuery } from '../database/prepared-query.ts';
import { type MintKind, mints, operatorMints } from '../schema/payments.ts';
import type { Backlog } from '../transactions/backlog.ts';
import { afterRefusal, isDue, type Pauses, placeInTurn, type Window } from '../transactions/refused-work.ts';

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

const ofSessions = and(isNull(mints.transactionId), isNull(mints.failure), isNull(mints.shownBlock));
const ofOperators = and(
  inArray(operatorMints.kind, ['wallet', 'escrow']),
  isNull(operatorMints.transactionId),
  isNull(operatorMints.failure),
  isNull(operatorMints.shownBlock),
);

/**
 * Mints that no transaction carries and nobody gave up, and that are due: brands in turn, and those who are minted to by
 * hand, of each the oldest first.
 */
export async function waitingMints(db: Queries, { now, limit }: Window): Promise<QueuedMint[]> {
  const paid = await dueOfSessions(now)(db, { limit });
  const byHand = await dueOfOperators(now)(db, { limit });
  const waiting = [
    ...paid.map(({ mint: { key, kind, brandId, wallet, rwtAmount, createdAt }, turn }) => ({
      turn,
      mint: { key, kind, createdAt, amount: rwtAmount, recipient: kind === 'wallet' ? wallet : brandId },
    })),
    ...byHand.map(({ mint: { key, kind, recipient, amount, createdAt }, turn }) => ({
      turn,
      mint: { key, recipient, amount, createdAt, kind: kind === 'wallet' ? kind : ('escrow' as const) },
    })),
  ];
  return waiting
    .sort(
      (one, other) =>
        one.turn - other.turn ||
        one.mint.createdAt - other.mint.createdAt ||
        (one.mint.key < other.mint.key ? -1 : 1),
    )
    .slice(0, limit)
    .map(({ mint }) => mint);
}

const turnOfSessions = placeInTurn(mints, {
  brand: sql`${mints.brandId}`,
  within: sql`${mints.createdAt}, ${mints.key}`,
});
const dueOfSessions = atTime((now) =>
  preparedQuery((db, of: Of<{ limit: number }>) =>
    db
      .select({ mint: mints, turn: turnOfSessions })
      .from(mints)
      .where(and(ofSessions, isDue(mints, now)))
      .orderBy(asc(turnOfSessions), asc(mints.createdAt), asc(mints.key))
      .limit(of.limit),
  ),
);
const turnOfOperators = placeInTurn(operatorMints, {
  brand: sql`${operatorMints.recipient}`,
  within: sql`${operatorMints.createdAt}, ${operatorMints.key}`,
});
const dueOfOperators = atTime((now) =>
  preparedQuery((db, of: Of<{ limit: number }>) =>
    db
      .select({ mint: operatorMints, turn: turnOfOperators })
      .from(operatorMints)
      .where(and(ofOperators, isDue(operatorMints, now)))
      .orderBy(asc(turnOfOperators), asc(operatorMints.createdAt), asc(operatorMints.key))
      .limit(of.limit),
  ),
);

/** Notes that the sale refused a mint, which waits. */
export async function noteRefusedMint(
  db: Queries,
  { key, ...refusal }: { key: Hex; now: SqlTime; pauses: Pauses; reason: string },
): Promise<void> {
  // Another process may have noted the same: then they are not due.
  await db
    .update(mints)
    .set(afterRefusal(mints, refusal))
    .where(and(eq(mints.key, key), ofSessions, isDue(mints, refusal.now)));
  await db
    .update(operatorMints)
    .set(afterRefusal(operatorMints, refusal))
    .where(and(eq(operatorMints.key, key), ofOperators, isDue(operatorMints, refusal.now)));
}

/** The oldest mint that waits since the sale refused it, with what the sale said last; payments first. */
export async function firstRefusedMint(db: Queries): Promise<{ key: Hex; reason: string } | undefined> {
  const [paid] = await db
    .select({ key: mints.key, reason: mints.refusal })
    .from(mints)
    .where(and(ofSessions, gt(mints.refusals, 0)))
    .orderBy(asc(mints.createdAt), asc(mints.key))
    .limit(1);
  if (paid) return { key: paid.key, reason: paid.reason ?? '' };
  const [byHand] = await db
    .select({ key: operatorMints.key, reason: operatorMints.refusal })
    .from(operatorMints)
    .where(and(ofOperators, gt(operatorMints.refusals, 0)))
    .orderBy(asc(operatorMints.createdAt), asc(operatorMints.key))
    .limit(1);
  return byHand && { key: byHand.key, reason: byHand.reason ?? '' };
}

/** Keys of mints that no transaction of ours carries, due or not; payments first, oldest first. */
export async function waitingMintKeys(db: Queries, limit: number): Promise<Hex[]> {
  const paid = await db
    .select({ key: mints.key })
    .from(mints)
    .where(ofSessions)
    .orderBy(asc(mints.createdAt))
    .limit(limit);
  const byHand = await db
    .select({ key: operatorMints.key })
    .from(operatorMints)
    .where(ofOperators)
    .orderBy(asc(operatorMints.createdAt))
    .limit(limit);
  return [...paid, ...byHand].map(({ key }) => key);
}

/** How many mints wait for a transaction, and since when the oldest does. */
export async function mintBacklog(db: Queries): Promise<Backlog> {
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

/** Binds a mint to the transaction that carries it. False when it is bound or given up already, or minted. */
export async function bindMint(tx: Queries, bound: { key: Hex; transactionId: string }): Promise<boolean> {
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
  return rows.length === 1;
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
