/** The table of the emulator's chain. */
import { jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, number } from '../../schema/columns.ts';

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
