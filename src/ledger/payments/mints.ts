/** RWT of paid sessions: planned once for each session, and bound to one chain transaction until that is known to have had no effect. */
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
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
