/** Deliveries whose next attempt lies ahead: what an emulator's clock meets on its way. */
import { and, asc, eq, gt, isNull, lte, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import type { TimeRange } from '../database/time-range.ts';
import { webhookDeliveries, webhookEndpoints, webhookEvents } from '../schema/webhooks.ts';

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
