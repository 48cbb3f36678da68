/** The table of the emulator's chain. */
import { jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, number } from './columns.ts';

/** The emulator's chain, block by block, so that a restart can build it again. */
export const journalBlocks = pgTable('journal_blocks', {
  number: number('number').primaryKey(),
  /** Smaller than `number` only for a run of empty blocks. */
  firstNumber: number('first_number').notNull(),
  hash: bytes('hash').notNull(),
  parentHash: bytes('parent_hash').notNull(),
  timestampSeconds: number('timestamp_seconds').notNull(),
  intervalSeconds: number('interval_seconds').notNull(),
  baseFeeWei: text('base_fee_wei').notNull(),
  rawTransactions: jsonb('raw_transactions').$type<`0x${string}`[]>().notNull(),
});
