/** The tables of recoveries: what was done about a ledger that had lost commits, and which rows were written for it. */
import { index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { number } from './columns.ts';

/** Numbers that the ledger would have handed out next when a recovery began. */
export interface CountersBefore {
  reward_sequence: number;
  wallet_index: number;
  gas_wallet_index: number;
}

export const recoveries = pgTable('recoveries', {
  id: text('id').primaryKey(),
  startedAt: number('started_at').notNull(),
  /** Null: it was broken off; the next one goes on with it. */
  finishedAt: number('finished_at'),
  /** The newest block that the ledger had read and the chain still has; null for a ledger that had read none. */
  agreedBlock: number('agreed_block'),
  /** The newest block that was searched. */
  headBlock: number('head_block').notNull(),
  beganWith: jsonb('began_with').$type<CountersBefore>().notNull(),
});

/** What a recovered row is, by the table that has it; `released` is a promise that the chain contradicts. */
export type RecoveredKind =
  | 'transaction'
  | 'attempt'
  | 'reward'
  | 'user'
  | 'mint'
  | 'redemption'
  | 'perk'
  | 'perk_terms'
  | 'relay'
  | 'top_up'
  | 'released'
  | 'unreadable';

/** A row that a recovery wrote or bound. The details say what nobody can read from the row itself. */
export const recoveredRows = pgTable(
  'recovered_rows',
  {
    kind: text('kind').$type<RecoveredKind>().notNull(),
    rowId: text('row_id').notNull(),
    recoveryId: text('recovery_id').notNull(),
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.kind, t.rowId] }),
    index('recovered_rows_recovery').on(t.recoveryId, t.kind),
  ],
);
