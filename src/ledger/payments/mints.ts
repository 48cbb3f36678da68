/** RWT of paid sessions: planned once for each session, and bound to one chain transaction until that is known to have had no effect. */
import { eq } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { mints } from '../schema/payments.ts';
import { transactions } from '../schema/transactions.ts';

export type Mint = typeof mints.$inferSelect;
/** `key`: `sessionMintKey(sessionId)` of `src/chain/contracts/sale-mint.ts`. Cents, whole RWT, milliseconds since 1970. */
export type MintPlan = Omit<Mint, 'transactionId' | 'failedTries' | 'failure'>;

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
  const mint = planned ?? (await tx.select().from(mints).where(eq(mints.sessionId, plan.sessionId)))[0];
  if (!mint) throw new Error(`the mint of ${plan.sessionId} could not be kept`);
  return { mint, isNew: planned !== undefined };
}

/**
 * A session's mint and how far it has come; undefined before it is planned. `hash`, `status`, `outcome` and
 * `blockNumber` are its transaction's, null until one is signed; `failure` says why it was given up.
 */
export async function readMint(db: Queries, sessionId: string) {
  const [row] = await db
    .select({
      mint: mints,
      hash: transactions.hash,
      status: transactions.status,
      outcome: transactions.outcome,
      blockNumber: transactions.blockNumber,
      failure: mints.failure,
    })
    .from(mints)
    .leftJoin(transactions, eq(transactions.id, mints.transactionId))
    .where(eq(mints.sessionId, sessionId));
  return row;
}

export type MintProgress = NonNullable<Awaited<ReturnType<typeof readMint>>>;
