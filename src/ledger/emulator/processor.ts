/** The records of the emulated payment processor. Writers take `lockRecords` first, in one process or in several on one ledger. */
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import type { TimeRange } from '../database/time-range.ts';
import { emulatedDeliveries, emulatedKeys, emulatedObjects } from './schema/processor.ts';

export type EmulatedObject = typeof emulatedObjects.$inferSelect;
export type EmulatedDelivery = typeof emulatedDeliveries.$inferSelect;
export type KeptAnswer = typeof emulatedKeys.$inferSelect;

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

export interface ObjectFilter {
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
