/** The tables of the emulated payment processor. They stand for another company's records; the service never reads them. */
import { index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { number } from '../../schema/columns.ts';

/** Checkout sessions, payments, refunds, disputes, events and webhook endpoints, as the processor's API shows them. */
export const emulatedObjects = pgTable(
  'emulated_processor_objects',
  {
    id: text('id').primaryKey(),
    /** The API's word, such as `checkout.session` or `event`. */
    kind: text('kind').notNull(),
    /** In the order of creation: lists are paged by it. */
    number: number('number').notNull(),
    /** The payment intent that it belongs to; of an event, the object that it is about. */
    about: text('about'),
    /** Milliseconds; the API shows seconds. */
    createdAt: number('created_at').notNull(),
    /** When time changes it: a session expires, a delayed payment arrives. */
    dueAt: number('due_at'),
    /** What the API shows. */
    body: jsonb('body').$type<Record<string, unknown>>().notNull(),
    /** What only the emulator knows of it, such as the lines of a session. */
    notes: jsonb('notes').$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    uniqueIndex('emulated_processor_objects_number').on(t.number),
    index('emulated_processor_objects_kind').on(t.kind, t.number),
    index('emulated_processor_objects_about').on(t.about, t.kind),
    index('emulated_processor_objects_due').on(t.dueAt),
  ],
);

/** An attempt of a delivery. */
export interface DeliveryAttempt {
  /** Milliseconds since 1970, on the emulator's clock. */
  at: number;
  /** The answer's status; null without an answer. */
  status: number | null;
  /** The beginning of the answer's body, or why there was no answer. */
  answer: string;
  durationMs: number;
}

/** An event on its way to an endpoint, with every attempt. */
export const emulatedDeliveries = pgTable(
  'emulated_processor_deliveries',
  {
    id: text('id').primaryKey(),
    eventId: text('event_id').notNull(),
    endpointId: text('endpoint_id').notNull(),
    number: number('number').notNull(),
    state: text('state').$type<'waiting' | 'delivered' | 'failed'>().notNull(),
    createdAt: number('created_at').notNull(),
    /** When the next attempt is due; null when there will be none. */
    nextAt: number('next_at'),
    attempts: jsonb('attempts').$type<DeliveryAttempt[]>().notNull(),
  },
  (t) => [
    uniqueIndex('emulated_processor_deliveries_number').on(t.number),
    index('emulated_processor_deliveries_event').on(t.eventId),
    index('emulated_processor_deliveries_next').on(t.nextAt),
  ],
);

/** First answers, kept under the caller's Idempotency-Key. */
export const emulatedKeys = pgTable('emulated_processor_keys', {
  key: text('key').primaryKey(),
  /** Of method, path and parameters. */
  digest: text('digest').notNull(),
  requestId: text('request_id').notNull(),
  status: integer('status').notNull(),
  answer: text('answer').notNull(),
  createdAt: number('created_at').notNull(),
});
