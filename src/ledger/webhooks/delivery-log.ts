/** The log of deliveries: looked at, ahead too, sent again, and trimmed. */
import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type WebhookType, webhookTypes } from '../../rules/webhook-body.ts';
import type { Queries, SqlTime, TimeRange } from '../database/database.ts';
import {
  type DeliveryState,
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
  webhookEvents,
} from '../schema/webhooks.ts';

const deliveryColumns = {
  eventId: webhookDeliveries.eventId,
  endpointId: webhookDeliveries.endpointId,
  brandId: webhookEvents.brandId,
  type: webhookEvents.type,
  subject: webhookEvents.subject,
  createdAt: webhookEvents.createdAt,
  state: webhookDeliveries.state,
  attempts: webhookDeliveries.attempts,
  nextAttemptAt: webhookDeliveries.nextAttemptAt,
  deliveredAt: webhookDeliveries.deliveredAt,
  /** Null once the endpoint is removed. */
  url: webhookEndpoints.url,
};

const deliveries = (db: Queries) =>
  db
    .select(deliveryColumns)
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .leftJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId));

export type Delivery = Awaited<ReturnType<typeof deliveries>>[number];

/** Deliveries, the newest event first. */
export const listDeliveries = (
  db: Queries,
  filter: {
    brandId?: BrandId | undefined;
    endpointId?: string | undefined;
    state?: DeliveryState | undefined;
    type?: WebhookType | undefined;
    /** Only what is about one of these. */
    subjects?: string[] | undefined;
    limit: number;
  },
): Promise<Delivery[]> =>
  deliveries(db)
    .where(
      and(
        ...(filter.brandId === undefined ? [] : [eq(webhookEvents.brandId, filter.brandId)]),
        ...(filter.endpointId === undefined ? [] : [eq(webhookDeliveries.endpointId, filter.endpointId)]),
        ...(filter.state === undefined ? [] : [eq(webhookDeliveries.state, filter.state)]),
        ...(filter.type === undefined ? [] : [eq(webhookEvents.type, filter.type)]),
        // The index of subjects begins with the type, so each type is named.
        ...(filter.subjects === undefined
          ? []
          : [
              inArray(webhookEvents.subject, filter.subjects),
              ...(filter.type === undefined ? [inArray(webhookEvents.type, [...webhookTypes])] : []),
            ]),
      ),
    )
    .orderBy(desc(webhookDeliveries.eventId), asc(webhookDeliveries.endpointId))
    .limit(filter.limit);

/** Postgres tells large whole numbers as text. */
const numberOrNull = (value: unknown) => (value === null ? null : Number(value));

/** How the newest deliveries of an endpoint stand, at most `limit` of them: an endpoint may have any number. */
export async function endpointHealth(db: Queries, of: { endpointId: string; limit: number }) {
  const { state, deliveredAt, nextAttemptAt, eventId, endpointId } = webhookDeliveries;
  const latest = db
    .select({ state, deliveredAt, nextAttemptAt })
    .from(webhookDeliveries)
    .where(eq(endpointId, of.endpointId))
    .orderBy(desc(eventId))
    .limit(of.limit)
    .as('latest');
  return db
    .select({
      state: latest.state,
      deliveries: sql<number>`count(*)`.mapWith(Number),
      lastDeliveredAt: sql<number | null>`max(${latest.deliveredAt})`.mapWith(numberOrNull),
      dueSince: sql<number | null>`min(${latest.nextAttemptAt})`.mapWith(numberOrNull),
    })
    .from(latest)
    .groupBy(latest.state);
}

export interface ShownEvent {
  body: string;
  deliveries: (Delivery & { log: (typeof webhookAttempts.$inferSelect)[] })[];
}

/** An event's body, its deliveries, and each attempt of these, oldest first. */
export async function showEvent(db: Queries, eventId: string): Promise<ShownEvent | undefined> {
  const [event] = await db.select().from(webhookEvents).where(eq(webhookEvents.id, eventId));
  if (!event) return undefined;
  const rows = await deliveries(db)
    .where(eq(webhookDeliveries.eventId, eventId))
    .orderBy(asc(webhookDeliveries.endpointId));
  const attempts = await db
    .select()
    .from(webhookAttempts)
    .where(eq(webhookAttempts.eventId, eventId))
    .orderBy(asc(webhookAttempts.at));
  return {
    body: event.body,
    deliveries: rows.map((row) => ({
      ...row,
      log: attempts.filter(({ endpointId }) => endpointId === row.endpointId),
    })),
  };
}

/** Sends an event once more, to one endpoint or to all it went to, with a schedule that begins again. Returns how many wait now. */
export async function replayEvent(
  tx: Queries,
  again: { eventId: string; endpointId?: string | undefined; now: SqlTime },
): Promise<number> {
  const enabled = tx
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(sql`${webhookEndpoints.disabledAt} is null`);
  const waiting = await tx
    .update(webhookDeliveries)
    .set({ state: 'waiting', tries: 0, nextAttemptAt: again.now, deliveredAt: null })
    .where(
      and(
        eq(webhookDeliveries.eventId, again.eventId),
        ...(again.endpointId === undefined ? [] : [eq(webhookDeliveries.endpointId, again.endpointId)]),
        inArray(webhookDeliveries.endpointId, enabled),
      ),
    )
    .returning({ endpointId: webhookDeliveries.endpointId });
  return waiting.length;
}

/**
 * Sends everything that an endpoint missed since a moment: what was held, what failed, and what waits for a later attempt.
 * Returns how many are due now.
 */
export async function recoverDeliveries(
  tx: Queries,
  lost: { endpointId: string; sinceMs: number; now: SqlTime },
): Promise<number> {
  const since = tx
    .select({ id: webhookEvents.id })
    .from(webhookEvents)
    .where(gte(webhookEvents.createdAt, lost.sinceMs));
  const waiting = await tx
    .update(webhookDeliveries)
    .set({ state: 'waiting', tries: 0, nextAttemptAt: lost.now })
    .where(
      and(
        eq(webhookDeliveries.endpointId, lost.endpointId),
        or(
          inArray(webhookDeliveries.state, ['held', 'failed']),
          and(eq(webhookDeliveries.state, 'waiting'), gt(webhookDeliveries.nextAttemptAt, lost.now)),
        ),
        inArray(webhookDeliveries.eventId, since),
      ),
    )
    .returning({ eventId: webhookDeliveries.eventId });
  return waiting.length;
}

/**
 * Deletes up to `limit` attempts, and as many events that wait for nothing, from before a moment. Returns how many rows
 * went, so that the caller goes on until nothing is left.
 */
export async function trimDeliveries(tx: Queries, old: { beforeMs: number; limit: number }): Promise<number> {
  const attempts = await tx
    .select({ id: webhookAttempts.id })
    .from(webhookAttempts)
    .where(lt(webhookAttempts.at, old.beforeMs))
    .orderBy(asc(webhookAttempts.at))
    .limit(old.limit);
  if (attempts.length > 0)
    await tx.delete(webhookAttempts).where(
      inArray(
        webhookAttempts.id,
        attempts.map(({ id }) => id),
      ),
    );
  const stillWaiting = tx
    .select({ id: webhookDeliveries.eventId })
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.eventId, webhookEvents.id),
        sql`(${webhookDeliveries.state} = 'waiting' or ${webhookDeliveries.deliveredAt} >= ${old.beforeMs})`,
      ),
    );
  const events = await tx
    .select({ id: webhookEvents.id })
    .from(webhookEvents)
    .where(and(lt(webhookEvents.createdAt, old.beforeMs), sql`not exists ${stillWaiting}`))
    .orderBy(asc(webhookEvents.createdAt))
    .limit(old.limit);
  const ids = events.map(({ id }) => id);
  if (ids.length > 0) {
    await tx.delete(webhookDeliveries).where(inArray(webhookDeliveries.eventId, ids));
    await tx.delete(webhookEvents).where(inArray(webhookEvents.id, ids));
  }
  return attempts.length + ids.length;
}

// Deliveries whose next attempt lies ahead: what an emulator's clock meets on its way.

/** A receiver may have asked for more time than the schedule gives it. */
const dueAt = sql<number>`case when ${webhookEndpoints.pausedUntil} > ${webhookDeliveries.nextAttemptAt}
  then ${webhookEndpoints.pausedUntil} else ${webhookDeliveries.nextAttemptAt} end`.mapWith(Number);

const waiting = and(eq(webhookDeliveries.state, 'waiting'), isNull(webhookEndpoints.disabledAt));

const attempts = (db: Queries) =>
  db
    .select({
      atMs: dueAt,
      eventId: webhookDeliveries.eventId,
      type: webhookEvents.type,
      url: webhookEndpoints.url,
      attempts: webhookDeliveries.attempts,
    })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId));

/** The earliest first. Those of a stretch that has passed are due, or under way. */
export const scheduledAttempts = (db: Queries, { afterMs, untilMs, limit }: TimeRange) =>
  attempts(db)
    .where(and(waiting, gt(dueAt, afterMs), lte(dueAt, untilMs)))
    .orderBy(asc(dueAt), asc(webhookDeliveries.eventId), asc(webhookDeliveries.endpointId))
    .limit(limit);

/** The attempts that lie ahead of one event, the earliest first; without an id, of any event. */
export const attemptsAhead = (db: Queries, of: { eventId?: string | undefined; afterMs: number }) =>
  attempts(db)
    .where(
      and(
        waiting,
        gt(dueAt, of.afterMs),
        of.eventId === undefined ? undefined : eq(webhookDeliveries.eventId, of.eventId),
      ),
    )
    .orderBy(asc(dueAt))
    .limit(1);
