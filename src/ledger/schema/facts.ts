/** The table of single facts. */
import { jsonb, pgTable, text } from 'drizzle-orm/pg-core';

/** Single facts: which chain this is, where the contracts are, how far the clock was moved. */
export const facts = pgTable('facts', {
  name: text('name').primaryKey(),
  value: jsonb('value').notNull(),
});
