/** Chain transactions: a nonce is a row, and the signed bytes are on disk before any node sees them. */
import { and, asc, desc, eq, gte, inArray, isNull, lte, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, jsonRows, type Of, preparedQuery } from '../database/prepared-query.ts';
import { attempts, type LanePurpose, type TransactionOutcome, transactions } from '../schema/transactions.ts';
import { behindAccepted } from './accepted-nonces.ts';

export type Transaction = typeof transactions.$inferSelect;
/** Written out, and no parameter, so that both databases look among the few that are not final: `transactions_open`, `transactions_by_block`. */
const isOpen = sql`${transactions.status} <> 'final'`;

/** The next free nonce of a lane as this ledger knows it, behind what an operator accepted; undefined before the first transaction. */
export async function nextNonce(tx: Queries, lane: Hex): Promise<number | undefined> {
  const [row] = await newestNonce(tx, { lane });
  return row && Math.max(row.nonce + 1, (await behindAccepted(tx, lane)) ?? 0);
}

const newestNonce = preparedQuery((db, of: Of<{ lane: Hex }>) =>
  db
    .select({ nonce: transactions.nonce })
    .from(transactions)
    .where(eq(transactions.lane, of.lane))
    .orderBy(desc(transactions.nonce))
    .limit(1),
);

/** Signed bytes with what they offer. */
interface SignedAttempt {
  hash: Hex;
  raw: Hex;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

type NewTransaction = SignedAttempt &
  Pick<Transaction, 'id' | 'lane' | 'nonce' | 'purpose' | 'epoch' | 'createdAt'>;

/** Stores signed transactions with their first attempts. The unique index refuses a nonce that is taken. */
export async function storeTransactions(tx: Queries, signed: NewTransaction[]): Promise<void> {
  if (signed.length === 0) return;
  await insertTransactions(
    tx,
    signed.map(({ raw: _, maxFeeWei: __, priorityFeeWei: ___, ...transaction }) => ({
      ...transaction,
      status: 'stored' as const,
    })),
  );
  await storeAttempts(
    tx,
    signed.map((one) => ({ ...one, transactionId: one.id, attempt: 0, kind: 'payload' })),
  );
}

const insertTransactions = bulkInsert(transactions, (insert) => insert.returning({ id: transactions.id }));
const insertAttempts = bulkInsert(attempts, (insert) => insert.returning({ hash: attempts.hash }));

/** Stores one. */
export const storeTransaction = (tx: Queries, signed: NewTransaction): Promise<void> =>
  storeTransactions(tx, [signed]);

/**
 * Stores a replacement of a transaction, whose bytes are sent from now on. False, and nothing stored, when a block
 * is known to hold the transaction already.
 */
export async function storeReplacement(
  tx: Queries,
  replacement: SignedAttempt & { transactionId: string; kind: 'payload' | 'noop'; createdAt: number },
): Promise<boolean> {
  const { transactionId, hash } = replacement;
  const open = await tx
    .update(transactions)
    .set({ hash, status: 'stored' })
    .where(and(eq(transactions.id, transactionId), inArray(transactions.status, ['stored', 'sent'])))
    .returning({ id: transactions.id });
  if (open.length === 0) return false;
  const [newest] = await tx
    .select({ attempt: attempts.attempt })
    .from(attempts)
    .where(eq(attempts.transactionId, transactionId))
    .orderBy(desc(attempts.attempt))
    .limit(1);
  await storeAttempts(tx, [{ ...replacement, attempt: (newest?.attempt ?? 0) + 1 }]);
  return true;
}

async function storeAttempts(
  tx: Queries,
  signed: (SignedAttempt & Omit<typeof attempts.$inferInsert, keyof SignedAttempt>)[],
): Promise<void> {
  await insertAttempts(
    tx,
    signed.map((one) => ({
      ...one,
      maxFeeWei: String(one.maxFeeWei),
      priorityFeeWei: String(one.priorityFeeWei),
    })),
  );
}

/** What the attempts of a transaction have offered, in wei for a unit of gas. */
export async function offersOf(
  db: Queries,
  transactionId: string,
): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }[]> {
  const rows = await db
    .select({ maxFeeWei: attempts.maxFeeWei, priorityFeeWei: attempts.priorityFeeWei })
    .from(attempts)
    .where(eq(attempts.transactionId, transactionId));
  return rows.map(({ maxFeeWei, priorityFeeWei }) => ({
    maxFeePerGas: BigInt(maxFeeWei),
    maxPriorityFeePerGas: BigInt(priorityFeeWei),
  }));
}

/** A transaction that no block is known to hold, with its latest bytes. */
export interface UnsettledTransaction extends SignedAttempt {
  id: string;
  nonce: number;
  kind: 'payload' | 'noop';
  /** Every offer of these bytes was refused by every node that it went to. */
  refused: boolean;
}

/** Every transaction of a lane that no block is known to hold, in nonce order. */
export async function unsettledTransactions(db: Queries, lane: Hex): Promise<UnsettledTransaction[]> {
  const rows = await db
    .select({ transaction: transactions, attempt: attempts })
    .from(transactions)
    .innerJoin(
      attempts,
      and(eq(attempts.transactionId, transactions.id), eq(attempts.hash, transactions.hash)),
    )
    .where(and(eq(transactions.lane, lane), inArray(transactions.status, ['stored', 'sent']), isOpen))
    .orderBy(asc(transactions.nonce));
  return rows.map(({ transaction: { id, nonce }, attempt: { kind, hash, raw, refused, ...attempt } }) => ({
    id,
    nonce,
    kind,
    hash,
    raw,
    refused,
    maxFeeWei: BigInt(attempt.maxFeeWei),
    priorityFeeWei: BigInt(attempt.priorityFeeWei),
  }));
}

/** Notes whether every offer of these bytes was refused by every node; to be written back to false before the next offer. */
export async function markRefused(tx: Queries, hash: Hex, refused: boolean): Promise<void> {
  await tx.update(attempts).set({ refused }).where(eq(attempts.hash, hash));
}

/** Whether every offer of every attempt of a transaction was refused by every node, so that no node can have any of them. */
export async function isRefusedThroughout(tx: Queries, transactionId: string): Promise<boolean> {
  const open = await tx
    .select({ hash: attempts.hash })
    .from(attempts)
    .where(and(eq(attempts.transactionId, transactionId), eq(attempts.refused, false)))
    .limit(1);
  return open.length === 0;
}

/** Notes that a node has taken the bytes of these transactions; what a block has shown since stays. */
export async function markSent(db: Queries, ids: string[]): Promise<void> {
  await noteSent(db, { ids });
}

const noteSent = preparedQuery((db, of: Of<{ ids: string[] }>) =>
  db
    .update(transactions)
    .set({ status: 'sent' })
    .where(and(isOneOf(transactions.id, of.ids), eq(transactions.status, 'stored'))),
);

/** An attempt that a block holds, with the transaction that it belongs to. */
export type FoundAttempt = { hash: Hex; kind: 'payload' | 'noop'; raw: Hex; transaction: Transaction };

/** Transactions by the hash of any of their attempts. */
export async function findByHashes(db: Queries, hashes: Hex[]): Promise<FoundAttempt[]> {
  return hashes.length === 0 ? [] : foundByHashes(db, { hashes });
}

const foundByHashes = preparedQuery((db, of: Of<{ hashes: Hex[] }>) =>
  db
    .select({ hash: attempts.hash, kind: attempts.kind, raw: attempts.raw, transaction: transactions })
    .from(attempts)
    .innerJoin(transactions, eq(transactions.id, attempts.transactionId))
    .where(isOneOf(attempts.hash, of.hashes)),
);

/** What a block shows of a transaction. */
export interface ShownTransaction {
  id: string;
  /** The one that the block holds. */
  hash: Hex;
  outcome: TransactionOutcome;
  gasUsed: number;
  gasPriceWei: string;
  l1FeeWei?: string | null;
  /** Where it stands in the feed of consumers; it keeps one that it has. */
  feedPosition?: number | null;
}

/** Notes the block that holds a transaction, the hash that was included, and the outcome. */
export const markIncluded = (
  tx: Queries,
  { blockNumber, blockHash, ...shown }: ShownTransaction & { blockNumber: number; blockHash: Hex },
): Promise<void> => markAllIncluded(tx, { blockNumber, blockHash }, [shown]);

/** The same for all that one block holds. */
export async function markAllIncluded(
  tx: Queries,
  block: { blockNumber: number; blockHash: Hex },
  shown: ShownTransaction[],
): Promise<void> {
  if (shown.length === 0) return;
  const cells = shown.map(
    ({ id, hash, outcome, gasUsed, gasPriceWei, l1FeeWei = null, feedPosition = null }) => [
      ...[id, hash, outcome, gasUsed, gasPriceWei, l1FeeWei, feedPosition],
    ],
  );
  await noteIncluded(tx, { ...block, cells: JSON.stringify(cells) });
}

const noteIncluded = preparedQuery((db, of: Of<{ blockNumber: number; blockHash: Hex; cells: string }>) =>
  db
    .update(transactions)
    .set({
      status: 'included',
      blockNumber: sql`${of.blockNumber}`,
      blockHash: sql`${of.blockHash}`,
      hash: sql`shown.hash`,
      outcome: sql`shown.outcome`,
      gasUsed: sql`shown.gas_used`,
      gasPriceWei: sql`shown.gas_price_wei`,
      l1FeeWei: sql`shown.l1_fee_wei`,
      feedPosition: sql`coalesce(${transactions.feedPosition}, shown.feed_position)`,
    })
    .from(
      jsonRows('shown', of.cells, {
        id: 'text',
        hash: 'text',
        outcome: 'text',
        gas_used: 'bigint',
        gas_price_wei: 'text',
        l1_fee_wei: 'text',
        feed_position: 'bigint',
      }),
    )
    .where(sql`${transactions.id} = shown.id`),
);

/** Transactions in blocks up to `blockNumber` that are not final yet. */
export const includedUpTo = (tx: Queries, blockNumber: number): Promise<Transaction[]> =>
  includedBefore(tx, { blockNumber });

const includedBefore = preparedQuery((db, of: Of<{ blockNumber: number }>) =>
  db
    .select()
    .from(transactions)
    .where(and(eq(transactions.status, 'included'), isOpen, lte(transactions.blockNumber, of.blockNumber))),
);

export async function transactionsById(tx: Queries, ids: string[]): Promise<Transaction[]> {
  return ids.length === 0 ? [] : byIds(tx, { ids });
}

const byIds = preparedQuery((db, of: Of<{ ids: string[] }>) =>
  db.select().from(transactions).where(isOneOf(transactions.id, of.ids)),
);

/** Lanes of this purpose with transactions that no block is known to hold. */
export async function lanesInFlight(db: Queries, purpose: LanePurpose): Promise<Hex[]> {
  const rows = await inFlightOf(db, { purpose });
  return rows.map(({ lane }) => lane);
}

const inFlightOf = preparedQuery((db, of: Of<{ purpose: LanePurpose }>) =>
  db
    .selectDistinct({ lane: transactions.lane })
    .from(transactions)
    .where(
      and(
        eq(transactions.purpose, of.purpose),
        inArray(transactions.status, ['stored', 'sent']),
        // What is in blocks, and not final for a long time, is not read for it: this is asked all the time.
        isNull(transactions.blockNumber),
        isOpen,
      ),
    ),
);

/** Makes transactions final: nothing looks at them again. */
export async function markFinal(tx: Queries, ids: string[]): Promise<void> {
  await noteFinal(tx, { ids });
}

const noteFinal = preparedQuery((db, of: Of<{ ids: string[] }>) =>
  db.update(transactions).set({ status: 'final' }).where(isOneOf(transactions.id, of.ids)),
);

/** The newest bytes of a transaction, inside a statement about it. */
const newestHash = sql<Hex>`(select ${attempts.hash} from ${attempts} where ${attempts.transactionId} = ${transactions.id} order by ${attempts.attempt} desc limit 1)`;

/**
 * Takes back what blocks from `blockNumber` on had shown, and returns the ids of the transactions that may no longer
 * be in a block. The newest bytes become the ones to send again, since a replacement must offer more than any before it.
 */
export async function reopenFrom(tx: Queries, blockNumber: number): Promise<string[]> {
  const reopened = await tx
    .update(transactions)
    .set({
      status: 'stored',
      hash: newestHash,
      blockNumber: null,
      blockHash: null,
      outcome: null,
      gasUsed: null,
      gasPriceWei: null,
      l1FeeWei: null,
      feedPosition: null,
    })
    .where(and(eq(transactions.status, 'included'), isOpen, gte(transactions.blockNumber, blockNumber)))
    .returning({ id: transactions.id });
  return reopened.map(({ id }) => id);
}

/** All that no block is known to hold. */
export async function unsettledIds(tx: Queries): Promise<string[]> {
  const rows = await tx
    .select({ id: transactions.id })
    .from(transactions)
    .where(and(inArray(transactions.status, ['stored', 'sent']), isOpen));
  return rows.map(({ id }) => id);
}

/** Closes a transaction whose nonce a foreign transaction has used in a final block; undefined when a block holds ours after all. */
export async function markLost(tx: Queries, id: string): Promise<Transaction | undefined> {
  const [row] = await tx
    .update(transactions)
    .set({ status: 'final', outcome: 'noop' })
    .where(and(eq(transactions.id, id), inArray(transactions.status, ['stored', 'sent'])))
    .returning();
  return row;
}

/** The bytes of the payload that a transaction was made for. */
export async function payloadOf(tx: Queries, transactionId: string): Promise<Hex | undefined> {
  const [row] = await tx
    .select({ raw: attempts.raw })
    .from(attempts)
    .where(and(eq(attempts.transactionId, transactionId), eq(attempts.kind, 'payload')))
    .orderBy(asc(attempts.attempt))
    .limit(1);
  return row?.raw;
}
