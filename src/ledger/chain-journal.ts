/** The emulator's chain on disk: its blocks in order, runs of empty ones as one row. */
import { asc, desc, gt, gte } from 'drizzle-orm';
import type { Database } from './database/database.ts';
import { journalBlocks } from './schema/chain-journal.ts';

type JournalRow = typeof journalBlocks.$inferSelect;

/** The journal kept in this ledger; a write that has resolved is on disk. */
export function ledgerChainJournal({ atomically, db }: Database) {
  return {
    /** Replaces the rows that reach to the first of these blocks or beyond. */
    append: (blocks: JournalRow[]): Promise<void> =>
      atomically(async (tx) => {
        const [first] = blocks;
        if (!first) return;
        await tx.delete(journalBlocks).where(gte(journalBlocks.number, first.firstNumber));
        await tx.insert(journalBlocks).values(blocks);
      }),
    /** Blocks after `afterBlock`, oldest first. */
    read: ({ afterBlock, limit }: { afterBlock: number; limit: number }): Promise<JournalRow[]> =>
      db
        .select()
        .from(journalBlocks)
        .where(gt(journalBlocks.number, afterBlock))
        .orderBy(asc(journalBlocks.number))
        .limit(limit),
    /** The newest block in the journal; -1 when it is empty. */
    async lastBlock(): Promise<number> {
      const [row] = await db
        .select({ number: journalBlocks.number })
        .from(journalBlocks)
        .orderBy(desc(journalBlocks.number))
        .limit(1);
      return row?.number ?? -1;
    },
    async truncateAfter(block: number): Promise<void> {
      await db.delete(journalBlocks).where(gt(journalBlocks.number, block));
    },
  };
}
