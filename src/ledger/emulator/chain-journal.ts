/** The journal of the emulator's chain: its table, written and read. */

import { asc, desc, gt, gte } from 'drizzle-orm';
import { jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import type { Database } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { type Of, preparedQuery } from '../database/prepared-query.ts';
import { bytes, number } from '../schema/columns.ts';

/** The emulator's chain, block by block, so that a restart can build it again. */
export const journalBlocks = pgTable('journal_blocks', {
  /** The block, or the last one of the run. */
  number: number('number').primaryKey(),
  /** Smaller than `number` only for a run of empty blocks. */
  firstNumber: number('first_number').notNull(),
  hash: bytes('hash').notNull(),
  /** The hash of block `firstNumber - 1`. */
  parentHash: bytes('parent_hash').notNull(),
  /** Of block `number`, as `hash`. */
  timestampSeconds: number('timestamp_seconds').notNull(),
  /** Between the blocks of a run; 0 for a single block. */
  intervalSeconds: number('interval_seconds').notNull(),
  /** Wei per gas in block `firstNumber`, in decimal digits. */
  baseFeeWei: text('base_fee_wei').notNull(),
  /** Signed transactions in block order; a first byte of 0xff marks one that has no signature of its own. */
  rawTransactions: jsonb('raw_transactions').$type<`0x${string}`[]>().notNull(),
});

// The emulator's chain on disk, so that a killed chain can be played again: blocks in order, runs of empty ones as one
// row.

/** One block with transactions, or a run of empty blocks that follow each other at equal distances. */
export type JournalBlock = typeof journalBlocks.$inferSelect;

/** Entries never overlap and leave no gap; block 0 is the first one. */
export type ChainJournal = ReturnType<typeof ledgerChainJournal>;

/** The journal kept in this ledger; a write that has resolved is on disk. */
export function ledgerChainJournal({ atomically, db }: Database) {
  return {
    /** Replaces everything that reaches to `blocks[0].firstNumber` or beyond by `blocks`, all or nothing. */
    append: (blocks: JournalBlock[]): Promise<void> =>
      atomically(async (tx) => {
        const [first] = blocks;
        if (!first) return;
        await deleteFrom(tx, first);
        await insertBlocks(tx, blocks);
      }),
    /** The first `limit` entries with `number > afterBlock`, in order; -1 starts at the first. */
    read: ({ afterBlock, limit }: { afterBlock: number; limit: number }): Promise<JournalBlock[]> =>
      blocksAfter(db, { afterBlock, limit }),
    /** The newest block in the journal; -1 when it is empty. */
    async lastBlock(): Promise<number> {
      const [row] = await newestBlock(db, {});
      return row?.number ?? -1;
    },
    /** Removes every entry with `number > block`. */
    async truncateAfter(block: number): Promise<void> {
      await db.delete(journalBlocks).where(gt(journalBlocks.number, block));
    },
  };
}

const deleteFrom = preparedQuery((db, of: Of<{ firstNumber: number }>) =>
  db.delete(journalBlocks).where(gte(journalBlocks.number, of.firstNumber)),
);

const insertBlocks = bulkInsert(journalBlocks, (insert) => insert);

const blocksAfter = preparedQuery((db, of: Of<{ afterBlock: number; limit: number }>) =>
  db
    .select()
    .from(journalBlocks)
    .where(gt(journalBlocks.number, of.afterBlock))
    .orderBy(asc(journalBlocks.number))
    .limit(of.limit),
);

const newestBlock = preparedQuery((db) =>
  db
    .select({ number: journalBlocks.number })
    .from(journalBlocks)
    .orderBy(desc(journalBlocks.number))
    .limit(1),
);
