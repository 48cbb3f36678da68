/** Signed bytes of ours that a node has and the ledger lacks: stored beside those that it has under their nonce. */
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { attempts, transactions } from '../schema/transactions.ts';

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

/** All that the ledger has signed for a transaction. */
export async function signedFor(
  db: Queries,
  transactionId: string,
): Promise<(FoundBytes & { kind: 'payload' | 'noop' })[]> {
  const rows = await db.select().from(attempts).where(eq(attempts.transactionId, transactionId));
  return rows.map(({ hash, raw, kind, maxFeeWei, priorityFeeWei }) => ({
    hash,
    raw,
    kind,
    maxFeeWei: BigInt(maxFeeWei),
    priorityFeeWei: BigInt(priorityFeeWei),
  }));
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
  await storeFound(tx, found, of);
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

/** Adds bytes behind the attempts of a transaction. */
export async function storeFound(
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
