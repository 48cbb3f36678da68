/** What an account's latest transactions cost. */
import { and, desc, eq, isNotNull } from 'drizzle-orm';
import type { Hex } from '../../lib/hex.ts';
import type { Queries } from '../database/database.ts';
import { transactions } from '../schema/transactions.ts';

/** Enough to tell a pace, few enough to be read at every look. */
const TRANSACTIONS_READ = 200;

/** Fees in wei of the latest transactions of an account that blocks hold; `sinceMs`: when the oldest of them was made. */
export async function gasSpent(
  db: Queries,
  lane: Hex,
): Promise<{ wei: bigint; count: number; sinceMs: number | undefined }> {
  const rows = await db
    .select({
      gasUsed: transactions.gasUsed,
      gasPriceWei: transactions.gasPriceWei,
      l1FeeWei: transactions.l1FeeWei,
      createdAt: transactions.createdAt,
    })
    .from(transactions)
    .where(and(eq(transactions.lane, lane), isNotNull(transactions.gasUsed)))
    .orderBy(desc(transactions.nonce))
    .limit(TRANSACTIONS_READ);
  const wei = rows.reduce(
    (sum, { gasUsed, gasPriceWei, l1FeeWei }) =>
      sum + BigInt(gasUsed ?? 0) * BigInt(gasPriceWei ?? 0) + BigInt(l1FeeWei ?? 0),
    0n,
  );
  return { wei, count: rows.length, sinceMs: rows.at(-1)?.createdAt };
}
