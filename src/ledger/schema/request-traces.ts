/** The table of answered requests of production, for looking back on them. */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { number } from './columns.ts';

/** What the ids of requests of the same moment have in common (`allPlaces` in `lib/ids.ts`). */
export const tracePlace = sql<string>`substr(id, 5, 3)`;

/** A request without its bodies; users by a keyed hash. Kept for a settable time; on Postgres in a part for each day (`ledger/request-traces.ts`). */
export const requestTraces = pgTable(
  'request_traces',
  {
    id: text('id').notNull(),
    at: number('at').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    status: integer('status').notNull(),
    /** Hash of the first event's user. */
    userHash: text('user_hash'),
    /** The facts that explain it; rows of earlier versions have the explanation itself. */
    detail: jsonb('detail').$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.at] }),
    index('request_traces_at').on(t.at),
    index('request_traces_user').on(tracePlace, t.userHash).where(sql`user_hash is not null`),
  ],
);
