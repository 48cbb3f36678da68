/** RWT that operators create by hand: recorded with a reason, before or after the chain has it. */
import { and, eq, inArray } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { operatorMints } from '../schema/payments.ts';

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
