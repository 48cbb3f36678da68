/** Migrations that are applied together, and how a database notes which of them it has. */
import { integer, pgTable, text } from 'drizzle-orm/pg-core';

export interface Migration {
  number: number;
  name: string;
  sql: string;
  /** In its place on Postgres, where only Postgres can do it. */
  postgres?: string;
  /** The text drops tables, but only those without rows. Postgres can say so in its own text; for SQLite it is seen to here. */
  keepsRows?: boolean;
}

export interface MigrationSet {
  /** In which a database notes them. */
  table: 'migrations' | 'emulator_migrations';
  /** In order of their numbers. */
  migrations: readonly Migration[];
}

export const appliedIn = (table: MigrationSet['table']) =>
  pgTable(table, {
    number: integer('number').primaryKey(),
    name: text('name').notNull(),
  });
