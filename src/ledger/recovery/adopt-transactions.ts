/** Transactions that the chain or a pool has and the ledger lost: stored as if the ledger had signed them. */
import { and, eq, gte } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { perkTerms, redemptions } from '../schema/engagement/perks.ts';
import { mints, operatorMints } from '../schema/payments.ts';
import { gasTopUps, relays } from '../schema/relay.ts';
import { rewards } from '../schema/rewards.ts';
import { attempts, type LanePurpose, transactions } from '../schema/transactions.ts';
import { type FoundBytes, storeFound } from '../transactions/found-attempts.ts';
import type { Transaction } from '../transactions/transactions.ts';

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
  await storeFound(tx, found, { transactionId: id, kind: 'payload', createdAt });
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
  await storeFound(tx, found, { transactionId: id, kind: 'payload', createdAt });
}
