/** RWT that operators create by hand: recorded with a reason, before or after the chain has it. */
import { and, eq, inArray } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { operatorMints } from '../schema/payments.ts';
import { transactions } from '../schema/transactions.ts';
import { carrierOf } from './mints.ts';

export type OperatorMint = typeof operatorMints.$inferInsert;

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
