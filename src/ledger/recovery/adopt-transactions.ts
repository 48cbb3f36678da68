/** Transactions that the chain or a pool has and the ledger lost: stored as if the ledger had signed them. */
import { and, desc, eq, gte, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { perkTerms, redemptions } from '../schema/engagement/perks.ts';
import { mints, operatorMints } from '../schema/payments.ts';
import { gasTopUps, relays } from '../schema/relay.ts';
import { rewards } from '../schema/rewards.ts';
import { attempts, type LanePurpose, transactions } from '../schema/transactions.ts';
import type { Transaction } from '../transactions/transactions.ts';

/** What signed bytes offer, in wei for a unit of gas. */
export interface Offer {
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

export const offersMore = (one: Offer, other: Offer): boolean =>
  one.maxFeeWei > other.maxFeeWei ||
  (one.maxFeeWei === other.maxFeeWei && one.priorityFeeWei > other.priorityFeeWei);

/** Signed bytes that were found. */
export interface FoundBytes extends Offer {
  hash: Hex;
  raw: Hex;
}

/** What the ledger has under a nonce; undefined when it has nothing. */
export async function transactionAt(
  tx: Queries,
  { lane, nonce }: { lane: Hex; nonce: number },
): Promise<Transaction | undefined> {
  const [row] = await tx
    .select()
    .from(transactions)
    .where(and(eq(transactions.lane, lane), eq(transactions.nonce, nonce)));
  return row;
}

/** What the ledger has signed under the nonces of an account, from this one on. */
export const attemptsFrom = (
  tx: Queries,
  { lane, nonce }: { lane: Hex; nonce: number },
): Promise<{ nonce: number; hash: Hex }[]> =>
  tx
    .select({ nonce: transactions.nonce, hash: attempts.hash })
    .from(attempts)
    .innerJoin(transactions, eq(transactions.id, attempts.transactionId))
    .where(and(eq(transactions.lane, lane), gte(transactions.nonce, nonce)));

/** Stores a transaction that a node has: its block, where it has one, is for the follower to book. */
export async function adoptTransaction(
  tx: Queries,
  found: FoundBytes & {
    id: string;
    lane: Hex;
    nonce: number;
    purpose: LanePurpose;
    epoch: number;
    createdAt: number;
  },
): Promise<void> {
  const { id, lane, nonce, purpose, epoch, createdAt, hash } = found;
  await tx.insert(transactions).values({ id, lane, nonce, purpose, epoch, createdAt, hash, status: 'sent' });
  await storeAttempt(tx, found, { transactionId: id, kind: 'payload', createdAt });
}

/**
 * Adds bytes of the same nonce that the ledger had lost. They become the ones to send and to outbid, unless nodes have
 * others of this nonce that offer more (`isOutbid`): then the ledger's newest stay that.
 */
export async function adoptAttempt(
  tx: Queries,
  found: FoundBytes,
  of: { transactionId: string; kind: 'payload' | 'noop'; createdAt: number; isOutbid: boolean },
): Promise<void> {
  await storeAttempt(tx, found, of);
  if (of.isOutbid) return moveNewestBehind(tx, found.hash, of.transactionId);
  await tx
    .update(transactions)
    .set({ hash: found.hash, status: 'sent' })
    .where(and(eq(transactions.id, of.transactionId), sql`status in ('stored', 'sent')`));
}

/** The last attempt is what is sent again after blocks were taken back: the one that was it before changes places with this. */
async function moveNewestBehind(tx: Queries, hash: Hex, transactionId: string): Promise<void> {
  const rows = await tx
    .select({ hash: attempts.hash, attempt: attempts.attempt })
    .from(attempts)
    .where(eq(attempts.transactionId, transactionId))
    .orderBy(desc(attempts.attempt))
    .limit(2);
  const [own, newest] = rows;
  if (own === undefined || newest === undefined) return;
  const place = (which: Hex, attempt: number) =>
    tx.update(attempts).set({ attempt }).where(eq(attempts.hash, which));
  await place(hash, own.attempt + 1);
  await place(newest.hash, own.attempt);
  await place(hash, newest.attempt);
}

async function storeAttempt(
  tx: Queries,
  { hash, raw, maxFeeWei, priorityFeeWei }: FoundBytes,
  of: { transactionId: string; kind: 'payload' | 'noop'; createdAt: number },
): Promise<void> {
  const [newest] = await tx
    .select({ attempt: sql<number | null>`max(${attempts.attempt})` })
    .from(attempts)
    .where(eq(attempts.transactionId, of.transactionId));
  const attempt = newest?.attempt === null || newest === undefined ? 0 : Number(newest.attempt) + 1;
  await tx.insert(attempts).values({
    hash,
    raw,
    attempt,
    transactionId: of.transactionId,
    kind: of.kind,
    maxFeeWei: String(maxFeeWei),
    priorityFeeWei: String(priorityFeeWei),
    createdAt: of.createdAt,
  });
}

/**
 * Takes the ledger's own work out of a transaction whose nonce was used for something else, and forgets its bytes: they can
 * never come into a block. The work waits again; a relayed call is given up, since its user was told so long ago.
 */
export async function emptyTransaction(tx: Queries, transactionId: string): Promise<string[]> {
  const waits = { transactionId: null };
  const released = [
    ...(await tx
      .update(rewards)
      .set(waits)
      .where(eq(rewards.transactionId, transactionId))
      .returning({ id: rewards.id })),
    ...(await tx
      .update(mints)
      .set(waits)
      .where(eq(mints.transactionId, transactionId))
      .returning({ id: mints.sessionId })),
    ...(await tx
      .update(operatorMints)
      .set(waits)
      .where(eq(operatorMints.transactionId, transactionId))
      .returning({ id: operatorMints.key })),
    ...(await tx
      .update(redemptions)
      .set(waits)
      .where(eq(redemptions.transactionId, transactionId))
      .returning({ id: redemptions.id })),
    ...(await tx
      .update(perkTerms)
      .set(waits)
      .where(eq(perkTerms.transactionId, transactionId))
      .returning({ id: perkTerms.perkId })),
    ...(await tx
      .update(gasTopUps)
      .set(waits)
      .where(eq(gasTopUps.transactionId, transactionId))
      .returning({ id: gasTopUps.id })),
    ...(await tx.delete(relays).where(eq(relays.transactionId, transactionId)).returning({ id: relays.id })),
  ];
  await tx
    .update(relays)
    .set({ permitTransactionId: null })
    .where(eq(relays.permitTransactionId, transactionId));
  await tx.delete(attempts).where(eq(attempts.transactionId, transactionId));
  return released.map(({ id }) => id);
}

/** Fills an emptied transaction with what the chain has under its nonce. */
export async function refillTransaction(
  tx: Queries,
  found: FoundBytes & { id: string; purpose: LanePurpose; epoch: number; createdAt: number },
): Promise<void> {
  const { id, purpose, epoch, createdAt, hash } = found;
  await tx
    .update(transactions)
    .set({ purpose, epoch, createdAt, hash, status: 'sent' })
    .where(eq(transactions.id, id));
  await storeAttempt(tx, found, { transactionId: id, kind: 'payload', createdAt });
}
