/** How far this service has read the chain, with enough recent hashes to notice that it was reorganised. */
import { desc, eq, gte, lt, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { type Of, preparedQuery } from '../database/prepared-query.ts';
import { followedBlocks } from '../schema/transactions.ts';

export type FollowedBlock = typeof followedBlocks.$inferSelect;

/** The newest blocks that were read, newest first. */
export const recentBlocks = (db: Queries, count: number) => newestBlocks(db, { count });

const newestBlocks = preparedQuery((db, of: Of<{ count: number }>) =>
  db.select().from(followedBlocks).orderBy(desc(followedBlocks.number)).limit(of.count),
);

/** Notes that the feed has grown behind a block, without a block. */
export async function raiseFeed(
  tx: Queries,
  to: Pick<FollowedBlock, 'number' | 'feedPosition'>,
): Promise<void> {
  await tx
    .update(followedBlocks)
    .set({ feedPosition: to.feedPosition })
    .where(eq(followedBlocks.number, to.number));
}

/** Notes a block as read and forgets those too old to be reorganised. */
export async function noteBlock(tx: Queries, block: FollowedBlock, keep: number): Promise<void> {
  await writeBlock(tx, block);
  await forgetBefore(tx, { number: block.number - keep });
}

const writeBlock = preparedQuery((db, of: Of<FollowedBlock>) =>
  db
    .insert(followedBlocks)
    .values({ number: of.number, hash: of.hash, feedPosition: of.feedPosition })
    .onConflictDoUpdate({
      target: followedBlocks.number,
      // A process that books a block once more knows nothing of what a reorganisation has added to the feed since.
      set: {
        hash: sql`excluded.hash`,
        feedPosition: sql`case when excluded.feed_position > ${followedBlocks.feedPosition} then excluded.feed_position else ${followedBlocks.feedPosition} end`,
      },
    }),
);

const forgetBefore = preparedQuery((db, of: Of<{ number: number }>) =>
  db.delete(followedBlocks).where(lt(followedBlocks.number, of.number)),
);

/** Forgets blocks from `number` on: the chain has others there now. */
export async function forgetBlocksFrom(tx: Queries, number: number): Promise<void> {
  await tx.delete(followedBlocks).where(gte(followedBlocks.number, number));
}

/** The hash under which a block was read, if it was. */
export async function followedHash(tx: Queries, number: number): Promise<`0x${string}` | undefined> {
  const [row] = await blockAt(tx, { number });
  return row?.hash;
}

const blockAt = preparedQuery((db, of: Of<{ number: number }>) =>
  db.select().from(followedBlocks).where(eq(followedBlocks.number, of.number)),
);

/** The block as it was read, locked until the commit, so that processes book the next block one at a time. */
export async function lockFollowed(tx: Queries, number: number): Promise<FollowedBlock | undefined> {
  const [row] = await lockBlock(tx, { number });
  return row;
}

/** Locks the newest block until the commit, so that no process books the next one. */
export async function lockNewestFollowed(tx: Queries): Promise<FollowedBlock | undefined> {
  for (;;) {
    const [newest] = await recentBlocks(tx, 1);
    if (!newest) return undefined;
    const locked = await lockFollowed(tx, newest.number);
    // Whoever had the lock may have booked the next one, or have taken this one back.
    const [still] = await recentBlocks(tx, 1);
    if (locked && still?.number === locked.number) return locked;
  }
}

/**
 * Whether the ledger has read this very block, which no process takes back before the commit. One that it has forgotten
 * is too old to be taken back.
 */
export async function lockIfRead(
  tx: Queries,
  block: Pick<FollowedBlock, 'number' | 'hash'>,
): Promise<boolean> {
  const newest = await lockNewestFollowed(tx);
  if (!newest || block.number > newest.number) return false;
  return ((await followedHash(tx, block.number)) ?? block.hash) === block.hash;
}

const lockBlock = preparedQuery((db, of: Of<{ number: number }>) =>
  db.select().from(followedBlocks).where(eq(followedBlocks.number, of.number)).for('update'),
);
