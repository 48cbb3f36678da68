/** Sending accounts that an operator has retired: nothing of theirs is open, and what their keys do now is nobody's business. */
import { eq } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { retiredLanes } from '../schema/transactions.ts';

type Address = `0x${string}`;
export type RetiredLane = typeof retiredLanes.$inferSelect;

export const listRetiredLanes = (db: Queries): Promise<RetiredLane[]> => db.select().from(retiredLanes);

export async function isRetired(db: Queries, lane: Address): Promise<boolean> {
  const rows = await db
    .select({ lane: retiredLanes.lane })
    .from(retiredLanes)
    .where(eq(retiredLanes.lane, lane));
  return rows.length === 1;
}

/** False when it was retired before. */
export async function keepRetired(tx: Queries, retired: RetiredLane): Promise<boolean> {
  const kept = await tx
    .insert(retiredLanes)
    .values(retired)
    .onConflictDoNothing()
    .returning({ lane: retiredLanes.lane });
  return kept.length === 1;
}
