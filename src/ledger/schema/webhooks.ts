/** The tables of outbound webhooks: where brands want to be told, what they are told, and how each attempt went. */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { WebhookType } from '../../rules/webhook-body.ts';
import { address, bool, number } from './columns.ts';

/** A URL of a brand's server, and the secret that only the two know. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    brandId: address('brand_id').notNull(),
    url: text('url').notNull(),
    /** Empty: every type. */
    types: jsonb('types').$type<WebhookType[]>().notNull(),
    /** The one that `brand set --webhook-url` changes; a brand has at most one. */
    isDefault: bool('is_default').notNull(),
    secret: text('secret').notNull(),
    /** Signs beside the new secret until then (ms), so that the receiver can change over. */
    previousSecret: text('previous_secret'),
    previousSecretUntil: number('previous_secret_until'),
    /** The first of the failures since the last success, and the latest one. */
    failingSince: number('failing_since'),
    lastFailedAt: number('last_failed_at'),
    /** The receiver asked for time until then (ms). */
    pausedUntil: number('paused_until').notNull(),
    disabledAt: number('disabled_at'),
    /** gone: it answered 410 · failing: five days of failures only · operator: by hand. */
    disabledWhy: text('disabled_why').$type<'gone' | 'failing' | 'operator'>(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [
    index('webhook_endpoints_brand').on(t.brandId),
    uniqueIndex('webhook_endpoints_default').on(t.brandId).where(sql`is_default`),
  ],
);

/** What brands are told, each once, however many endpoints they have; only written where an endpoint wants it. */
export const webhookEvents = pgTable(
  'webhook_events',
  {
    /** `evt_<uuid>`: the same at every endpoint, in every attempt. */
    id: text('id').primaryKey(),
    brandId: address('brand_id').notNull(),
    type: text('type').$type<WebhookType>().notNull(),
    /** What it is about, such as a reward's id: there is one event of a type about it. */
    subject: text('subject').notNull(),
    /** The body as it is signed and sent, byte for byte. */
    body: text('body').notNull(),
    /** The transaction that the event tells of; null where it tells of none. */
    transactionId: text('transaction_id'),
    createdAt: number('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('webhook_events_subject').on(t.type, t.subject),
    index('webhook_events_created').on(t.createdAt),
    index('webhook_events_transaction').on(t.transactionId),
  ],
);

/** waiting: due at `next_attempt_at` · held: its endpoint is turned off · failed: no attempt is left · delivered. */
export type DeliveryState = 'waiting' | 'held' | 'failed' | 'delivered';

/** One event on its way to one endpoint. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    eventId: text('event_id').notNull(),
    endpointId: text('endpoint_id').notNull(),
    state: text('state').$type<DeliveryState>().notNull(),
    /** Failed attempts since the schedule began, or began again. */
    tries: integer('tries').notNull(),
    /** Every attempt ever made. */
    attempts: integer('attempts').notNull(),
    nextAttemptAt: number('next_attempt_at').notNull(),
    /** A process is at it until then, by the database's clock; 0: nobody is. */
    leaseUntil: number('lease_until').notNull(),
    /** Names the attempt under way, so that a later one is not undone by an earlier one's failure. */
    lease: text('lease'),
    deliveredAt: number('delivered_at'),
  },
  (t) => [
    primaryKey({ columns: [t.eventId, t.endpointId] }),
    index('webhook_deliveries_due').on(t.endpointId, t.nextAttemptAt).where(sql`state = 'waiting'`),
    index('webhook_deliveries_endpoint').on(t.endpointId, t.eventId),
  ],
);

/** One POST and what came of it; kept for 30 days. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    id: text('id').primaryKey(),
    eventId: text('event_id').notNull(),
    endpointId: text('endpoint_id').notNull(),
    /** When it ended (ms), and how long it took. */
    at: number('at').notNull(),
    ms: integer('ms').notNull(),
    /** The status of the answer; null when there was none. */
    status: integer('status'),
    /** Why there was none. */
    why: text('why'),
    /** The beginning of the answer's body. */
    answer: text('answer'),
    /** The time that its signatures carry (ms), by the database's clock; null for attempts from before it was kept. */
    signedAt: number('signed_at'),
  },
  (t) => [
    index('webhook_attempts_delivery').on(t.eventId, t.endpointId, t.at),
    index('webhook_attempts_at').on(t.at),
  ],
);
