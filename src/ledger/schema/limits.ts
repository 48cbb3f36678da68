/** The tables of requests that are answered once, and of uses per window of time. */
import { index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { number } from './columns.ts';

/** First answers under an Idempotency-Key, and the effect id that a request which was cut off would have had. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    requestDigest: text('request_digest').notNull(),
    /** The id that the request's effect has, or would have: it is looked up before the request is done again. */
    effectId: text('effect_id').notNull(),
    /** Until this time the request counts as being worked on. */
    busyUntil: number('busy_until').notNull(),
    status: integer('status'),
    body: text('body'),
    createdAt: number('created_at').notNull(),
    /** Null before there is an answer, and for one that was kept before headers were. */
    headers: jsonb('headers').$type<Record<string, string>>(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.key] }), index('idempotency_keys_created').on(t.createdAt)],
);

/** How often something was done in a window that began with the first time. */
export const rateWindows = pgTable(
  'rate_windows',
  {
    /** Which limit, for example `relay user`. */
    scope: text('scope').notNull(),
    subject: text('subject').notNull(),
    startedAt: number('started_at').notNull(),
    used: number('used').notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.subject] }), index('rate_windows_started').on(t.startedAt)],
);
