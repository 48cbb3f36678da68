/** Transactions that the chain or a pool has and the ledger lost: stored as if the ledger had signed them. */
import { and, eq, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { perkTerms } from '../schema/engagement/perks.ts';
import { redemptions } from '../schema/engagement/redemptions.ts';
import { mints, operatorMints } from '../schema/payments.ts';
import { gasTopUps, relays } from '../schema/relay.ts';
import { rewards } from '../schema/rewards.ts';
import { attempts, type LanePurpose, transactions } from '../schema/transactions.ts';
import type { Transaction } from '../transactions/transactions.ts';

/** Signed bytes that were found, with what they offer. */
export interface FoundBytes {
  hash: Hex;
  raw: Hex;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
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

/** Adds bytes of the same nonce that the ledger had lost; they are what nodes have. */
export async function adoptAttempt(
  tx: Queries,
  found: FoundBytes,
  of: { transactionId: string; kind: 'payload' | 'noop'; createdAt: number },
): Promise<void> {
  await storeAttempt(tx, found, of);
  await tx
    .update(transactions)
    .set({ hash: found.hash, status: 'sent' })
    .where(and(eq(transactions.id, of.transactionId), sql`status in ('stored', 'sent')`));
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
