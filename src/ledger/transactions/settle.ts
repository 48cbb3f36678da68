/** Settles on-chain work once its transaction can no longer change: each kind of work settles in its own way. */
import type { Queries } from '../database/database.ts';
import type { LanePurpose } from '../schema/transactions.ts';
import { includedUpTo, markFinal, markLost, type Transaction } from './transactions.ts';

/** Draws the consequences of transactions of one purpose, in the commit that makes them final. */
export type Settle = (tx: Queries, settled: { transactions: Transaction[]; nowMs: number }) => Promise<void>;

/** How each kind of work settles; the order is the same in every process, so that commits cannot deadlock. */
export type Settlements = Partial<Record<LanePurpose, Settle>>;

/** Makes every transaction in blocks up to `blockNumber` final, and settles what they carried. */
export async function settleFinal(
  tx: Queries,
  final: { blockNumber: number; nowMs: number; settlements: Settlements },
): Promise<void> {
  const transactions = await includedUpTo(tx, final.blockNumber);
  if (transactions.length === 0) return;
  await markFinal(
    tx,
    transactions.map(({ id }) => id),
  );
  await settleEach(tx, transactions, final);
}

/**
 * Makes a transaction final whose nonce a foreign transaction used in a final block: ours had no effect and is settled
 * as such. False when a block holds it after all.
 */
export async function settleLost(
  tx: Queries,
  lost: { transactionId: string; nowMs: number; settlements: Settlements },
): Promise<boolean> {
  const transaction = await markLost(tx, lost.transactionId);
  if (transaction) await settleEach(tx, [transaction], lost);
  return transaction !== undefined;
}

async function settleEach(
  tx: Queries,
  transactions: Transaction[],
  { settlements, nowMs }: { settlements: Settlements; nowMs: number },
): Promise<void> {
  for (const [purpose, settle] of Object.entries(settlements)) {
    const own = transactions.filter((transaction) => transaction.purpose === purpose);
    if (own.length > 0) await settle(tx, { transactions: own, nowMs });
  }
}
