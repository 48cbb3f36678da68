/** The records of the emulated payment processor. They stand for another company's; the service never reads them. */

import { and, asc, desc, eq, gt, gte, inArray, isNotNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { takeNumbers } from '../counters.ts';
import type { Queries, TimeRange } from '../database/database.ts';
import { number } from '../schema/columns.ts';

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

// The records of the emulated payment processor. Writers take `lockRecords` first, in one process or in several on one
// ledger.

export type EmulatedObject = typeof emulatedObjects.$inferSelect;
export type EmulatedDelivery = typeof emulatedDeliveries.$inferSelect;
type KeptAnswer = typeof emulatedKeys.$inferSelect;

/** What an id of the processor looks like; a text with other characters names nothing, and Postgres takes no NUL. */
const isId = (text: string) => /^\w{1,255}$/.test(text);

/** Until the commit, whoever else wants to change the records waits. */
export async function lockRecords(tx: Queries): Promise<void> {
  await takeNumbers(tx, 'emulated_object', 0);
}

export async function insertObject(tx: Queries, object: Omit<EmulatedObject, 'number'>): Promise<void> {
  const [last] = await tx
    .select({ number: emulatedObjects.number })
    .from(emulatedObjects)
    .orderBy(desc(emulatedObjects.number))
    .limit(1);
  await tx.insert(emulatedObjects).values({ ...object, number: (last?.number ?? 0) + 1 });
}

export async function updateObject(
  tx: Queries,
  {
    id,
    ...change
  }: Pick<EmulatedObject, 'id'> & Partial<Pick<EmulatedObject, 'body' | 'notes' | 'dueAt' | 'about'>>,
): Promise<void> {
  await tx.update(emulatedObjects).set(change).where(eq(emulatedObjects.id, id));
}

export async function deleteObject(tx: Queries, id: string): Promise<void> {
  await tx.delete(emulatedObjects).where(eq(emulatedObjects.id, id));
}

export async function findObject(db: Queries, id: string): Promise<EmulatedObject | undefined> {
  if (!isId(id)) return undefined;
  const [row] = await db.select().from(emulatedObjects).where(eq(emulatedObjects.id, id));
  return row;
}

interface ObjectFilter {
  kind: string;
  about?: string | undefined;
  /** Milliseconds, both included. */
  createdFromMs?: number | undefined;
  createdToMs?: number | undefined;
  /** Only those created before the object with this number, or after it. */
  beforeNumber?: number | undefined;
  afterNumber?: number | undefined;
  limit: number;
}

/** Newest first; with `afterNumber`, those that follow it most closely. */
export async function listObjects(db: Queries, filter: ObjectFilter): Promise<EmulatedObject[]> {
  const { kind, about, createdFromMs, createdToMs, beforeNumber, afterNumber, limit } = filter;
  if (about !== undefined && !isId(about)) return [];
  const conditions: (SQL | undefined)[] = [
    eq(emulatedObjects.kind, kind),
    about === undefined ? undefined : eq(emulatedObjects.about, about),
    createdFromMs === undefined ? undefined : gte(emulatedObjects.createdAt, createdFromMs),
    createdToMs === undefined ? undefined : lte(emulatedObjects.createdAt, createdToMs),
    beforeNumber === undefined ? undefined : lt(emulatedObjects.number, beforeNumber),
    afterNumber === undefined ? undefined : gt(emulatedObjects.number, afterNumber),
  ];
  const ascending = afterNumber !== undefined;
  const rows = await db
    .select()
    .from(emulatedObjects)
    .where(and(...conditions))
    .orderBy(ascending ? asc(emulatedObjects.number) : desc(emulatedObjects.number))
    .limit(limit);
  return ascending ? rows.reverse() : rows;
}

/** Objects that time has changed by `nowMs`, in the order in which it did. */
export const dueObjects = (db: Queries, { nowMs, limit }: { nowMs: number; limit: number }) =>
  db
    .select()
    .from(emulatedObjects)
    .where(lte(emulatedObjects.dueAt, nowMs))
    .orderBy(asc(emulatedObjects.dueAt), asc(emulatedObjects.number))
    .limit(limit);

/** When an object or a delivery is due next; undefined when nothing waits. */
export async function nextDueMs(db: Queries): Promise<number | undefined> {
  const [object] = await db
    .select({ at: emulatedObjects.dueAt })
    .from(emulatedObjects)
    .where(isNotNull(emulatedObjects.dueAt))
    .orderBy(asc(emulatedObjects.dueAt))
    .limit(1);
  const [delivery] = await db
    .select({ at: emulatedDeliveries.nextAt })
    .from(emulatedDeliveries)
    .where(isNotNull(emulatedDeliveries.nextAt))
    .orderBy(asc(emulatedDeliveries.nextAt))
    .limit(1);
  const times = [object?.at, delivery?.at].filter((at) => typeof at === 'number');
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Objects that time changes in a stretch of it, the earliest first. */
export const upcomingObjects = (db: Queries, { afterMs, untilMs, limit }: TimeRange) =>
  db
    .select()
    .from(emulatedObjects)
    .where(and(gt(emulatedObjects.dueAt, afterMs), lte(emulatedObjects.dueAt, untilMs)))
    .orderBy(asc(emulatedObjects.dueAt), asc(emulatedObjects.number))
    .limit(limit);

/** Deliveries whose next attempt is due in a stretch of time, the earliest first. */
export const upcomingDeliveries = (db: Queries, { afterMs, untilMs, limit }: TimeRange) =>
  db
    .select()
    .from(emulatedDeliveries)
    .where(and(gt(emulatedDeliveries.nextAt, afterMs), lte(emulatedDeliveries.nextAt, untilMs)))
    .orderBy(asc(emulatedDeliveries.nextAt), asc(emulatedDeliveries.number))
    .limit(limit);

export async function insertDelivery(
  tx: Queries,
  delivery: Pick<EmulatedDelivery, 'id' | 'eventId' | 'endpointId' | 'createdAt'>,
): Promise<void> {
  const [last] = await tx
    .select({ number: emulatedDeliveries.number })
    .from(emulatedDeliveries)
    .orderBy(desc(emulatedDeliveries.number))
    .limit(1);
  await tx.insert(emulatedDeliveries).values({
    ...delivery,
    number: (last?.number ?? 0) + 1,
    state: 'waiting',
    nextAt: delivery.createdAt,
    attempts: [],
  });
}

export async function updateDelivery(
  tx: Queries,
  { id, ...change }: Pick<EmulatedDelivery, 'id' | 'state' | 'nextAt' | 'attempts'>,
): Promise<void> {
  await tx.update(emulatedDeliveries).set(change).where(eq(emulatedDeliveries.id, id));
}

export async function findDelivery(db: Queries, id: string): Promise<EmulatedDelivery | undefined> {
  const [row] = await db.select().from(emulatedDeliveries).where(eq(emulatedDeliveries.id, id));
  return row;
}

/** Newest first. */
export async function listDeliveries(
  db: Queries,
  filter: {
    eventIds?: string[] | undefined;
    endpointId?: string | undefined;
    state?: EmulatedDelivery['state'] | undefined;
    limit?: number;
  },
): Promise<EmulatedDelivery[]> {
  const { eventIds, endpointId, state, limit = 1_000 } = filter;
  if (![...(eventIds ?? []), ...(endpointId === undefined ? [] : [endpointId])].every(isId)) return [];
  return db
    .select()
    .from(emulatedDeliveries)
    .where(
      and(
        eventIds && inArray(emulatedDeliveries.eventId, eventIds),
        endpointId === undefined ? undefined : eq(emulatedDeliveries.endpointId, endpointId),
        state && eq(emulatedDeliveries.state, state),
      ),
    )
    .orderBy(desc(emulatedDeliveries.number))
    .limit(limit);
}

/** Deliveries to an endpoint whose next attempt is due, the longest overdue first. */
export const dueDeliveries = (
  db: Queries,
  { endpointId, nowMs, limit }: { endpointId: string; nowMs: number; limit: number },
) =>
  db
    .select()
    .from(emulatedDeliveries)
    .where(and(eq(emulatedDeliveries.endpointId, endpointId), lte(emulatedDeliveries.nextAt, nowMs)))
    .orderBy(asc(emulatedDeliveries.nextAt), asc(emulatedDeliveries.number))
    .limit(limit);

/** Ends what is on its way to an endpoint. */
export async function endDeliveries(tx: Queries, endpointId: string): Promise<void> {
  await tx
    .update(emulatedDeliveries)
    .set({ state: 'failed', nextAt: sql`null` })
    .where(and(eq(emulatedDeliveries.endpointId, endpointId), eq(emulatedDeliveries.state, 'waiting')));
}

export async function findKeptAnswer(db: Queries, key: string): Promise<KeptAnswer | undefined> {
  const [row] = await db.select().from(emulatedKeys).where(eq(emulatedKeys.key, key));
  return row;
}

/** Keeps an answer, and forgets those from before `forgetBeforeMs`. */
export async function keepAnswerUnderKey(
  tx: Queries,
  answer: KeptAnswer,
  forgetBeforeMs: number,
): Promise<void> {
  await tx.delete(emulatedKeys).where(lt(emulatedKeys.createdAt, forgetBeforeMs));
  await tx.insert(emulatedKeys).values(answer);
}
