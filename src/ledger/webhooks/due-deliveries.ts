/** Deliveries that are due: leased to one process at a time, and what their attempts have shown. */
import { and, asc, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm';
import type { Database, Queries, SqlTime } from '../database/database.ts';
import { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookEvents } from '../schema/webhooks.ts';
import { changeEndpoint, disableEndpoint, lockEndpoint, type WebhookEndpoint } from './endpoints.ts';

/** A delivery that this process may post until its lease is over. */
export interface LeasedDelivery {
  eventId: string;
  /** Names this attempt. */
  lease: string;
  body: string;
  /** Failed attempts since its schedule began. */
  tries: number;
  endpoint: WebhookEndpoint;
}

interface Times {
  /** What schedules are measured by. */
  now: SqlTime;
  /** What leases are measured by: the database's own clock, which no developer moves. */
  leaseNow: SqlTime;
}

/** An endpoint for which something is due, with how long it has only failed. */
export type DueEndpoint = Pick<WebhookEndpoint, 'id' | 'failingSince'>;

/** The endpoints for which something is due, the one that waits longest first. */
export const dueEndpoints = (db: Queries, { now, leaseNow }: Times): Promise<DueEndpoint[]> => {
  const oldest = sql<number | null>`(select min(${webhookDeliveries.nextAttemptAt}) from ${webhookDeliveries}
    where ${webhookDeliveries.endpointId} = ${webhookEndpoints.id} and ${webhookDeliveries.state} = 'waiting'
    and ${webhookDeliveries.nextAttemptAt} <= ${now} and ${webhookDeliveries.leaseUntil} <= ${leaseNow})`;
  return db
    .select({ id: webhookEndpoints.id, failingSince: webhookEndpoints.failingSince })
    .from(webhookEndpoints)
    .where(
      and(
        isNull(webhookEndpoints.disabledAt),
        lte(webhookEndpoints.pausedUntil, now),
        sql`${oldest} is not null`,
      ),
    )
    .orderBy(asc(oldest));
};

/**
 * Leases what is due, up to `slots` for each endpoint, and never more than `atOnce` of one endpoint in all processes
 * together. Endpoints are locked in one order, so that processes cannot deadlock.
 */
export const leaseDeliveries = (
  database: Database,
  wish: Times & {
    endpoints: { id: string; slots: number }[];
    atOnce: number;
    leaseMs: number;
    newLease: () => string;
  },
): Promise<LeasedDelivery[]> =>
  database.atomically(async (tx) => {
    const leased: LeasedDelivery[] = [];
    for (const { id, slots } of [...wish.endpoints].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const endpoint = await lockEndpoint(tx, id);
      if (!endpoint || endpoint.disabledAt !== null) continue;
      leased.push(...(await leaseFor(tx, endpoint, { ...wish, slots })));
    }
    return leased;
  });

async function leaseFor(
  tx: Queries,
  endpoint: WebhookEndpoint,
  wish: Times & { slots: number; atOnce: number; leaseMs: number; newLease: () => string },
): Promise<LeasedDelivery[]> {
  const { now, leaseNow, leaseMs } = wish;
  const ofEndpoint = and(
    eq(webhookDeliveries.endpointId, endpoint.id),
    eq(webhookDeliveries.state, 'waiting'),
  );
  const underWay = await tx
    .select({ eventId: webhookDeliveries.eventId })
    .from(webhookDeliveries)
    .where(and(ofEndpoint, gt(webhookDeliveries.leaseUntil, leaseNow)))
    .limit(wish.atOnce);
  const free = Math.min(wish.slots, wish.atOnce - underWay.length);
  if (free <= 0) return [];
  const due = await tx
    .select({ eventId: webhookDeliveries.eventId, tries: webhookDeliveries.tries, body: webhookEvents.body })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .where(
      and(ofEndpoint, lte(webhookDeliveries.nextAttemptAt, now), lte(webhookDeliveries.leaseUntil, leaseNow)),
    )
    .orderBy(asc(webhookDeliveries.nextAttemptAt))
    .limit(free);
  const leased: LeasedDelivery[] = [];
  for (const { eventId, tries, body } of due) {
    const lease = wish.newLease();
    const taken = await tx
      .update(webhookDeliveries)
      .set({ lease, leaseUntil: sql`${leaseNow} + ${leaseMs}` })
      .where(and(ofEndpoint, eq(webhookDeliveries.eventId, eventId)))
      .returning({ eventId: webhookDeliveries.eventId });
    // None where the block behind the event was taken back meanwhile.
    if (taken.length > 0) leased.push({ eventId, lease, body, tries, endpoint });
  }
  return leased;
}

/** What an attempt has shown. */
export interface AttemptResult {
  id: string;
  eventId: string;
  endpointId: string;
  lease: string;
  atMs: number;
  ms: number;
  status: number | null;
  why: string | null;
  answer: string | null;
  /** `nextAttemptAt` undefined: no attempt is left. */
  outcome: 'delivered' | 'gone' | { nextAttemptAt: number | undefined; pausedUntil: number };
}

/** Since when an endpoint has only failed, and whether that is too long: `rules/webhooks/schedule.ts`. */
type FailingSince = (
  before: Pick<WebhookEndpoint, 'failingSince' | 'lastFailedAt'>,
  nowMs: number,
) => { sinceMs: number; isTooLong: boolean };

/** Writes down what attempts have shown, in one commit. Returns the endpoints that were turned off by it. */
export const recordAttempts = (
  database: Database,
  results: AttemptResult[],
  failingSince: FailingSince,
): Promise<string[]> =>
  database.atomically(async (tx) => {
    const turnedOff: string[] = [];
    if (results.length === 0) return turnedOff;
    await tx
      .insert(webhookAttempts)
      .values(results.map(({ atMs, outcome: _, lease: __, ...attempt }) => ({ ...attempt, at: atMs })))
      .onConflictDoNothing();
    const endpointIds = [...new Set(results.map(({ endpointId }) => endpointId))].sort();
    for (const endpointId of endpointIds) {
      const own = results.filter((result) => result.endpointId === endpointId);
      const endpoint = await lockEndpoint(tx, endpointId);
      for (const result of own) await recordOne(tx, result);
      if (endpoint && (await judgeEndpoint(tx, endpoint, own, failingSince))) turnedOff.push(endpointId);
    }
    return turnedOff;
  });

async function recordOne(tx: Queries, result: AttemptResult): Promise<void> {
  const { eventId, endpointId, lease, outcome, atMs } = result;
  const isIt = and(eq(webhookDeliveries.eventId, eventId), eq(webhookDeliveries.endpointId, endpointId));
  const attempts = sql`${webhookDeliveries.attempts} + 1`;
  if (outcome === 'delivered') {
    // Whoever holds the lease by now, and even where the endpoint was turned off meanwhile: the receiver has it.
    const delivered = { state: 'delivered' as const, deliveredAt: atMs };
    await tx
      .update(webhookDeliveries)
      .set({ ...delivered, attempts, lease: null, leaseUntil: 0 })
      .where(isIt);
    return;
  }
  const nextAttemptAt = outcome === 'gone' ? undefined : outcome.nextAttemptAt;
  const failed = outcome !== 'gone' && nextAttemptAt === undefined;
  const recorded = await tx
    .update(webhookDeliveries)
    .set({
      ...(failed && { state: 'failed' as const }),
      ...(nextAttemptAt !== undefined && { nextAttemptAt }),
      ...{ tries: sql`${webhookDeliveries.tries} + 1`, attempts, lease: null, leaseUntil: 0 },
    })
    .where(and(isIt, eq(webhookDeliveries.lease, lease)))
    .returning({ eventId: webhookDeliveries.eventId });
  if (recorded.length > 0) return;
  await tx.update(webhookDeliveries).set({ attempts }).where(isIt);
}

/** Writes down how the endpoint itself does; true when it was turned off. */
async function judgeEndpoint(
  tx: Queries,
  endpoint: WebhookEndpoint,
  results: AttemptResult[],
  failingSince: FailingSince,
): Promise<boolean> {
  let { failingSince: since, lastFailedAt, pausedUntil } = endpoint;
  let off: 'gone' | 'failing' | undefined;
  let atMs = 0;
  for (const result of results) {
    if (result.outcome === 'delivered') {
      [since, lastFailedAt, pausedUntil, off] = [null, null, 0, undefined];
      continue;
    }
    atMs = result.atMs;
    const failing = failingSince({ failingSince: since, lastFailedAt }, result.atMs);
    [since, lastFailedAt] = [failing.sinceMs, result.atMs];
    if (result.outcome === 'gone') off = 'gone';
    else {
      pausedUntil = Math.max(pausedUntil, result.outcome.pausedUntil);
      if (failing.isTooLong) off ??= 'failing';
    }
  }
  const isSame =
    since === endpoint.failingSince &&
    lastFailedAt === endpoint.lastFailedAt &&
    pausedUntil === endpoint.pausedUntil;
  if (!isSame) await changeEndpoint(tx, endpoint.id, { failingSince: since, lastFailedAt, pausedUntil });
  if (!off || endpoint.disabledAt !== null) return false;
  await disableEndpoint(tx, endpoint.id, { atMs, why: off });
  return true;
}

/** How many deliveries wait, and since when the one that has been due for longest is; endpoints that are turned off not counted. */
export async function webhookBacklog(
  db: Queries,
  now: SqlTime,
): Promise<{ waiting: number; overdueMs: number }> {
  const [row] = await db
    .select({
      waiting: sql<number>`count(*)`.mapWith(Number),
      overdueMs: sql<number>`coalesce(max(${now} - ${webhookDeliveries.nextAttemptAt}), 0)`.mapWith(Number),
    })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(and(eq(webhookDeliveries.state, 'waiting'), isNull(webhookEndpoints.disabledAt)));
  return { waiting: row?.waiting ?? 0, overdueMs: Math.max(0, row?.overdueMs ?? 0) };
}

/** Gives back leases that this process will not use, so that the next one need not wait for their end. */
export async function releaseDeliveries(db: Queries, leases: string[]): Promise<void> {
  if (leases.length === 0) return;
  await db
    .update(webhookDeliveries)
    .set({ lease: null, leaseUntil: 0 })
    .where(and(eq(webhookDeliveries.state, 'waiting'), inArray(webhookDeliveries.lease, leases)));
}
