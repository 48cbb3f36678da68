/** How far this service has read the chain, with enough recent hashes to notice that it was reorganised. */
import { desc, eq, gte, lt } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { followedBlocks } from '../schema/transactions.ts';

export type FollowedBlock = typeof followedBlocks.$inferSelect;

/** The newest blocks that were read, newest first. */
export const recentBlocks = (db: Queries, count: number) =>
  db.select().from(followedBlocks).orderBy(desc(followedBlocks.number)).limit(count);

/** Notes a block as read and forgets those too old to be reorganised. */
export async function noteBlock(tx: Queries, block: FollowedBlock, keep: number): Promise<void> {
  await tx
    .insert(followedBlocks)
    .values(block)
    .onConflictDoUpdate({ target: followedBlocks.number, set: { hash: block.hash } });
  await tx.delete(followedBlocks).where(lt(followedBlocks.number, block.number - keep));
}

/** Forgets blocks from `number` on: the chain has others there now. */
export async function forgetBlocksFrom(tx: Queries, number: number): Promise<void> {
  await tx.delete(followedBlocks).where(gte(followedBlocks.number, number));
}

/** The hash under which a block was read, if it was. */
export async function followedHash(tx: Queries, number: number): Promise<`0x${string}` | undefined> {
  const [row] = await tx.select().from(followedBlocks).where(eq(followedBlocks.number, number));
  return row?.hash;
}

/** The same, with the row locked until the commit, so that processes book the next block one at a time. */
export async function lockFollowedHash(tx: Queries, number: number): Promise<`0x${string}` | undefined> {
  const [row] = await tx.select().from(followedBlocks).where(eq(followedBlocks.number, number)).for('update');
  return row?.hash;
}
