/**
 * Mints of RWT: of paid sessions, planned once for each and bound to one chain transaction until that is known to have
 * had no effect; by operators' hands; and by others who have the key.
 */
import { and, eq, gte, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { mints, operatorMints } from '../schema/payments.ts';
import { type TransactionOutcome, type TransactionStatus, transactions } from '../schema/transactions.ts';

export type Mint = typeof mints.$inferSelect;
/** `key`: `sessionMintKey(sessionId)` of `src/chain/contracts/sale-mint.ts`. Cents, whole RWT, milliseconds since 1970. */
export type MintPlan = Omit<
  Mint,
  | 'transactionId'
  | 'failedTries'
  | 'failure'
  | 'refusals'
  | 'nextTryAt'
  | 'refusal'
  | 'shownHash'
  | 'shownBlock'
>;

/**
 * Plans the mint of a paid session, at most once however many callers do: the first plan counts, and a later one
 * changes nothing of it. Returns the mint that counts and whether this call planned it; nudge the mint lane after the commit.
 */
export async function planMint(tx: Queries, plan: MintPlan): Promise<{ mint: Mint; isNew: boolean }> {
  const [planned] = await tx
    .insert(mints)
    .values({ ...plan, failedTries: 0 })
    .onConflictDoNothing({ target: mints.sessionId })
    .returning();
  if (planned) return { mint: (await takeOverRecovered(tx, planned)) ?? planned, isNew: true };
  const mint = (await tx.select().from(mints).where(eq(mints.sessionId, plan.sessionId)))[0];
  if (!mint) throw new Error(`the mint of ${plan.sessionId} could not be kept`);
  return { mint, isNew: false };
}

/**
 * A recovery that no longer knew the session wrote its mint as one by hand: the session's own goes on with the transaction
 * of that, since the sale obeys their key once. Undefined where there is none.
 */
async function takeOverRecovered(tx: Queries, planned: Mint): Promise<Mint | undefined> {
  const { sessionId, key, kind, rwtAmount } = planned;
  const [recovered] = await tx
    .delete(operatorMints)
    .where(and(eq(operatorMints.key, key), eq(operatorMints.kind, kind), eq(operatorMints.amount, rwtAmount)))
    .returning();
  if (!recovered) return undefined;
  const { transactionId, failedTries, failure, refusals, nextTryAt, refusal, shownHash, shownBlock } =
    recovered;
  const [mint] = await tx
    .update(mints)
    .set({ transactionId, failedTries, failure, refusals, nextTryAt, refusal, shownHash, shownBlock })
    .where(eq(mints.sessionId, sessionId))
    .returning();
  return mint;
}

/**
 * How far a mint has come. `hash` to `blockNumber` are its transaction's, null until one is signed; of somebody else's
 * where the sale has used the key in that.
 */
export interface MintProgress {
  mint: Mint;
  hash: `0x${string}` | null;
  status: TransactionStatus | null;
  outcome: TransactionOutcome | null;
  blockNumber: number | null;
  /** Why it was given up. */
  failure: string | null;
}

/** What is known of a mint's transaction, whoever sent it. `hash` stays null where somebody else's is not known. */
export const carrierOf = (table: typeof mints | typeof operatorMints) => {
  const unlessShown = <Value>(column: SQL, shown: SQL) =>
    sql<Value | null>`case when ${table.shownBlock} is null then ${column} else ${shown} end`;
  return {
    hash: unlessShown<`0x${string}`>(sql`${transactions.hash}`, sql`${table.shownHash}`),
    status: unlessShown<TransactionStatus>(sql`${transactions.status}`, sql`'included'`),
    outcome: unlessShown<TransactionOutcome>(sql`${transactions.outcome}`, sql`'done'`),
    blockNumber: unlessShown<number>(sql`${transactions.blockNumber}`, sql`${table.shownBlock}`).mapWith(
      (value: string | number | null) => (value === null ? null : Number(value)),
    ),
  };
};

/** Mints of sessions with their transactions; sessions without a mint are left out. */
export const readMints = (db: Queries, sessionIds: string[]): Promise<MintProgress[]> =>
  inChunks(sessionIds, (some) =>
    db
      .select({
        mint: mints,
        ...carrierOf(mints),
        failure: mints.failure,
      })
      .from(mints)
      .leftJoin(transactions, eq(transactions.id, mints.transactionId))
      .where(inArray(mints.sessionId, some)),
  );

/** A session's mint and how far it has come; undefined before it is planned. */
export const readMint = async (db: Queries, sessionId: string): Promise<MintProgress | undefined> =>
  (await readMints(db, [sessionId]))[0];

/** Whether a block shows that the mint's RWT is there. */
export const isMinted = ({ status, outcome }: Pick<MintProgress, 'status' | 'outcome'>): boolean =>
  (status === 'included' || status === 'final') && outcome === 'done';

// RWT that operators create by hand: recorded with a reason, before or after the chain has it.

type OperatorMint = typeof operatorMints.$inferInsert;

/** Records a mint; false, and nothing changed, when its key or transaction is recorded already. */
export async function recordMint(db: Queries, mint: OperatorMint): Promise<boolean> {
  const recorded = await db
    .insert(operatorMints)
    .values(mint)
    .onConflictDoNothing()
    .returning({ key: operatorMints.key });
  return recorded.length === 1;
}

/** RWT of the mints past the sale that are recorded for these transactions, by hash. */
export async function directMints(db: Queries, hashes: `0x${string}`[]): Promise<Map<string, bigint>> {
  if (hashes.length === 0) return new Map();
  const rows = await db
    .select()
    .from(operatorMints)
    .where(and(eq(operatorMints.kind, 'direct'), inArray(operatorMints.key, hashes)));
  return new Map(rows.map(({ key, amount }) => [key, BigInt(amount)]));
}

/** Operators' mints with the transactions that carry them, by key. */
export const readOperatorMints = (db: Queries, keys: `0x${string}`[]) =>
  inChunks(keys, (some) =>
    db
      .select({
        key: operatorMints.key,
        ...carrierOf(operatorMints),
        failure: operatorMints.failure,
      })
      .from(operatorMints)
      .leftJoin(transactions, eq(transactions.id, operatorMints.transactionId))
      .where(inArray(operatorMints.key, some)),
  );

/** How far an operator's mint has come; what is of its transaction is null until one is signed. */
export type OperatorMintProgress = Awaited<ReturnType<typeof readOperatorMints>>[number];

// Mints whose key the sale has used in a transaction that is not ours: sent by hand with the mint key, by whoever has
// it.

/**
 * Notes that a block shows the key as used, so that the mint waits for nothing any more; one that was given up is minted
 * after all. `hash`: of the transaction, null where only the key is known. Keys of nobody's mint change nothing.
 */
export async function noteMintedByOthers(
  tx: Queries,
  shown: readonly { key: Hex; hash: Hex | null; block: number }[],
): Promise<void> {
  for (const { key, hash, block } of shown) {
    const minted = { shownHash: hash, shownBlock: block, failure: null };
    await tx
      .update(mints)
      .set(minted)
      .where(and(eq(mints.key, key), isNull(mints.shownBlock)));
    await tx
      .update(operatorMints)
      .set(minted)
      .where(and(eq(operatorMints.key, key), isNull(operatorMints.shownBlock)));
  }
}

/** Forgets what blocks from `block` on had shown: the chain has others there now, and the mints wait again. */
export async function forgetMintedByOthers(tx: Queries, block: number): Promise<void> {
  for (const table of [mints, operatorMints])
    await tx
      .update(table)
      .set({ shownHash: null, shownBlock: null })
      .where(and(isNotNull(table.shownBlock), gte(table.shownBlock, block)));
}

/** Forgets that others minted in this transaction: it is ours. */
export async function forgetMintedBy(tx: Queries, hash: Hex): Promise<void> {
  for (const table of [mints, operatorMints])
    await tx
      .update(table)
      .set({ shownHash: null, shownBlock: null })
      .where(and(isNotNull(table.shownBlock), eq(table.shownHash, hash)));
}
