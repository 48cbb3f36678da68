/** Payments and mints in pages, to compare them with the chain and with each other. Every page is one statement. */
import { and, asc, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { checkoutSessions, mints, operatorMints } from '../schema/payments.ts';
import { transactions } from '../schema/transactions.ts';
import { carrierOf } from './mints.ts';

/** What the ledger says that the sale mints under a key. */
export interface ExpectedSale {
  key: Hex;
  intoEscrow: boolean;
  recipient: Hex;
  amount: number;
  /** The processor's session; null for an operator's mint. */
  sessionId: string | null;
}

const fromSession = (
  row: Pick<typeof mints.$inferSelect, 'key' | 'kind' | 'brandId' | 'wallet' | 'rwtAmount' | 'sessionId'>,
): ExpectedSale => ({
  key: row.key,
  intoEscrow: row.kind === 'escrow',
  recipient: row.kind === 'escrow' ? row.brandId : row.wallet,
  amount: row.rwtAmount,
  sessionId: row.sessionId,
});

const fromOperator = (
  row: Pick<typeof operatorMints.$inferSelect, 'key' | 'kind' | 'recipient' | 'amount'>,
): ExpectedSale => ({
  key: row.key,
  intoEscrow: row.kind !== 'wallet',
  recipient: row.recipient,
  amount: row.amount,
  sessionId: null,
});

/** What the ledger expects under these keys; keys that it does not know are left out. */
export async function expectedSales(db: Queries, keys: Hex[]): Promise<Map<Hex, ExpectedSale>> {
  const paid = await inChunks(keys, (some) => db.select().from(mints).where(inArray(mints.key, some)));
  const byHand = await inChunks(keys, (some) =>
    db.select().from(operatorMints).where(inArray(operatorMints.key, some)),
  );
  const all = [...paid.map(fromSession), ...byHand.map(fromOperator)];
  return new Map(all.map((one) => [one.key, one]));
}

/** A mint that a block shows as done; `hash` is null where it is somebody else's and not known. */
export type DoneMint = ExpectedSale & { blockNumber: number; hash: Hex | null };

/** By a transaction of ours, or by somebody else's. */
const isDone = (table: typeof mints | typeof operatorMints) =>
  or(and(eq(transactions.outcome, 'done'), isNotNull(transactions.blockNumber)), isNotNull(table.shownBlock));
const ofBlock = (table: typeof mints | typeof operatorMints) => {
  const { hash, blockNumber } = carrierOf(table);
  return { hash, blockNumber: sql<number>`${blockNumber}`.mapWith(Number) };
};

/** Mints of sessions that the ledger counts as done, by key; the page after `after`. */
export async function doneSessionMints(
  db: Queries,
  page: { after: string; limit: number },
): Promise<DoneMint[]> {
  const rows = await db
    .select({ mint: mints, ...ofBlock(mints) })
    .from(mints)
    .leftJoin(transactions, eq(transactions.id, mints.transactionId))
    .where(and(isDone(mints), gt(mints.key, page.after as Hex)))
    .orderBy(asc(mints.key))
    .limit(page.limit);
  return rows.map(({ mint, hash, blockNumber }) => ({ ...fromSession(mint), hash, blockNumber }));
}

/** The same of operators' mints. */
export async function doneOperatorMints(
  db: Queries,
  page: { after: string; limit: number },
): Promise<DoneMint[]> {
  const rows = await db
    .select({ mint: operatorMints, ...ofBlock(operatorMints) })
    .from(operatorMints)
    .leftJoin(transactions, eq(transactions.id, operatorMints.transactionId))
    .where(and(isDone(operatorMints), gt(operatorMints.key, page.after as Hex)))
    .orderBy(asc(operatorMints.key))
    .limit(page.limit);
  return rows.map(({ mint, hash, blockNumber }) => ({ ...fromOperator(mint), hash, blockNumber }));
}

/** A checkout that a person has to look at, with its mint where it has one. */
export type OddCheckout = Awaited<ReturnType<typeof oddCheckouts>>[number];

/** Checkouts that are paid without a mint, whose mint was given up, or whose payment was given back or is disputed. */
export const oddCheckouts = (db: Queries, page: { after: string; limit: number }) =>
  db
    .select({
      id: checkoutSessions.id,
      sessionId: checkoutSessions.processorSessionId,
      brandId: checkoutSessions.brandId,
      amountCents: checkoutSessions.amountCents,
      rwtAmount: checkoutSessions.rwtAmount,
      refundedCents: checkoutSessions.refundedCents,
      disputedAt: checkoutSessions.disputedAt,
      key: mints.key,
      failure: mints.failure,
    })
    .from(checkoutSessions)
    .leftJoin(mints, eq(mints.sessionId, checkoutSessions.processorSessionId))
    .where(
      and(
        gt(checkoutSessions.id, page.after),
        or(
          and(eq(checkoutSessions.state, 'paid'), isNull(mints.key)),
          isNotNull(mints.failure),
          gt(checkoutSessions.refundedCents, 0),
          isNotNull(checkoutSessions.disputedAt),
        ),
      ),
    )
    .orderBy(asc(checkoutSessions.id))
    .limit(page.limit);

/** Whether an operator's mint that was not given up names this session in its reason. */
export async function isMintedByHand(db: Queries, sessionId: string): Promise<boolean> {
  const rows = await db
    .select({ reason: operatorMints.reason })
    .from(operatorMints)
    .where(
      and(
        isNull(operatorMints.failure),
        sql`replace(${operatorMints.reason}, ${sessionId}, '') <> ${operatorMints.reason}`,
      ),
    )
    .limit(1);
  return rows.length > 0;
}
