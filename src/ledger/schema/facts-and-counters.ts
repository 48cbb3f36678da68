/** The tables of single facts, and of numbers that are handed out once. */
import { jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { number } from './columns.ts';

/** Single facts: which chain this is, where the contracts are, how far the clock was moved. */
export const facts = pgTable('facts', {
  name: text('name').primaryKey(),
  value: jsonb('value').notNull(),
});

// The table of numbers that are handed out once.

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
