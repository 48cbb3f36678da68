/** The table of numbers that are handed out once. */
import { pgTable, text } from 'drizzle-orm/pg-core';
import { number } from './columns.ts';

export type CounterName =
  | 'reward_sequence'
  | 'wallet_index'
  | 'gas_wallet_index'
  | 'relay_position'
  | 'emulated_object'
  | 'leaderboard';

/** Numbers that are handed out once: reward sequences, wallet indexes. */
export const counters = pgTable('counters', {
  name: text('name').$type<CounterName>().primaryKey(),
  next: number('next').notNull(),
});
