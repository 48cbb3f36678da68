/** Deliveries that are due: leased to one process at a time, and what their attempts have shown. */
import { and, asc, eq, gt, inArray, isNull, lte, sql } from 'drizzle-orm';
import { type Database, type Queries, readTime, type SqlTime } from '../database/database.ts';
import { bulkInsert, inChunks } from '../database/many-values.ts';
import { atTime, jsonRows, type Of, preparedQuery, type Run } from '../database/prepared-query.ts';
import { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookEvents } from '../schema/webhooks.ts';
import { changeEndpoint, disableEndpoint, lockEndpoints, type WebhookEndpoint } from './endpoints.ts';

/** A delivery that this process may post until its lease is over. */
export interface LeasedDelivery {
  eventId: string;
  /** Names this attempt. */
  lease: string;
  body: string;
  /** Failed attempts since its schedule began. */
  tries: number;
  /** When it was leased, by what schedules are measured by. */
  leasedAt: number;
  /** The same by the database's own clock, which signatures carry: no machine's own may be wrong. */
  signedAt: number;
  endpoint: WebhookEndpoint;
}

interface Times {
  /** What schedules are measured by. */
  now: SqlTime;
  /** What leases are measured by: the database's own clock, which no developer moves. */
  leaseNow: SqlTime;
}

/** Makes a statement that names both clocks, once for each pair of them. */
const atTimes = <Values, Answer>(make: (times: Times) => Run<Values, Answer>) => {
  const made = new WeakMap<SqlTime, (now: SqlTime) => Run<Values, Answer>>();
  return ({ now, leaseNow }: Times): Run<Values, Answer> => {
    const at = made.get(leaseNow) ?? atTime((moment) => make({ now: moment, leaseNow }));
    made.set(leaseNow, at);
    return at(now);
  };
};

/** An endpoint for which something is due, with how long it has only failed. */
export type DueEndpoint = Pick<WebhookEndpoint, 'id' | 'failingSince'>;

/** The endpoints for which something is due, the one that waits longest first. */
export const dueEndpoints = (db: Queries, times: Times): Promise<DueEndpoint[]> =>
  endpointsDue(times)(db, {});

const endpointsDue = atTimes(({ now, leaseNow }) =>
  preparedQuery((db) => {
    const oldest = sql<
      number | null
    >`(select min(${webhookDeliveries.nextAttemptAt}) from ${webhookDeliveries}
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
  }),
);

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
    const slotsOf = new Map(wish.endpoints.map(({ id, slots }) => [id, slots]));
    const leased: LeasedDelivery[] = [];
    for (const endpoint of await lockEndpoints(tx, [...slotsOf.keys()])) {
      if (endpoint.disabledAt !== null) continue;
      leased.push(...(await leaseFor(tx, endpoint, { ...wish, slots: slotsOf.get(endpoint.id) ?? 0 })));
    }
    return leased;
  });

/** The longest due first. */
async function leaseFor(
  tx: Queries,
  endpoint: WebhookEndpoint,
  wish: Times & { slots: number; atOnce: number; leaseMs: number; newLease: () => string },
): Promise<LeasedDelivery[]> {
  const { atOnce, leaseMs } = wish;
  const endpointId = endpoint.id;
  const underWay = await leasedNow(wish)(tx, { endpointId, atOnce });
  const free = Math.min(wish.slots, atOnce - underWay.length);
  if (free <= 0) return [];
  const taken = await takeLeases(wish)(tx, { endpointId, free, leaseMs, lease: wish.newLease() });
  return taken
    .sort((a, b) => a.nextAttemptAt - b.nextAttemptAt)
    .map(({ nextAttemptAt: _, ...delivery }) => ({ ...delivery, endpoint }));
}

const leasedNow = atTimes(({ leaseNow }) =>
  preparedQuery((db, of: Of<{ endpointId: string; atOnce: number }>) =>
    db
      .select({ eventId: webhookDeliveries.eventId })
      .from(webhookDeliveries)
      .where(and(isWaitingFor(of.endpointId), gt(webhookDeliveries.leaseUntil, leaseNow)))
      .limit(of.atOnce),
  ),
);

/** What waits on an endpoint; the state is written out, so that the index of what waits is used. */
const isWaitingFor = (endpointId: Of<{ endpointId: string }>['endpointId']) =>
  and(sql`${webhookDeliveries.endpointId} = ${endpointId}`, sql`${webhookDeliveries.state} = 'waiting'`);

/** A delivery whose event was taken back meanwhile, with its block, is left out. */
const takeLeases = atTimes(({ now, leaseNow }) =>
  preparedQuery((db, of: Of<{ endpointId: string; free: number; leaseMs: number; lease: string }>) => {
    const due = db
      .select({ eventId: webhookDeliveries.eventId })
      .from(webhookDeliveries)
      .where(
        and(
          isWaitingFor(of.endpointId),
          lte(webhookDeliveries.nextAttemptAt, now),
          lte(webhookDeliveries.leaseUntil, leaseNow),
        ),
      )
      .orderBy(asc(webhookDeliveries.nextAttemptAt))
      .limit(of.free);
    return (
      db
        .update(webhookDeliveries)
        // Each delivery's lease has a name of its own.
        .set({
          lease: sql`${of.lease} || '/' || ${webhookDeliveries.eventId}`,
          leaseUntil: sql`${leaseNow} + ${of.leaseMs}`,
        })
        .where(and(isWaitingFor(of.endpointId), inArray(webhookDeliveries.eventId, due)))
        .returning({
          eventId: webhookDeliveries.eventId,
          lease: sql<string>`${webhookDeliveries.lease}`,
          tries: webhookDeliveries.tries,
          nextAttemptAt: webhookDeliveries.nextAttemptAt,
          leasedAt: now,
          signedAt: leaseNow,
          body: sql<string>`(select ${webhookEvents.body} from ${webhookEvents} where ${webhookEvents.id} = ${webhookDeliveries.eventId})`,
        })
    );
  }),
);

/** What an attempt has shown. */
export interface AttemptResult {
  id: string;
  eventId: string;
  endpointId: string;
  lease: string;
  atMs: number;
  ms: number;
  signedAt: number | null;
  status: number | null;
  why: string | null;
  answer: string | null;
  /** `nextAttemptAt` undefined: no attempt is left. */
  outcome: 'delivered' | 'gone' | { nextAttemptAt: number | undefined; pausedUntil: number };
}

/** Since when an endpoint has only failed, and whether that is too long: `rules/webhook-schedule.ts`. */
type FailingSince = (
  before: Pick<WebhookEndpoint, 'failingSince' | 'lastFailedAt'>,
  nowMs: number,
) => { sinceMs: number; isTooLong: boolean };

/**
 * Writes down what attempts have shown, in one commit, by the time that `now` says in it: no process's own clock plans the
 * next attempt. Returns the endpoints that were turned off by it.
 */
export const recordAttempts = (
  database: Database,
  shown: { now: SqlTime; results: (nowMs: number) => AttemptResult[] },
  failingSince: FailingSince,
): Promise<string[]> =>
  database.atomically(async (tx) => {
    const turnedOff: string[] = [];
    const results = shown.results(await readTime({ db: tx, now: shown.now }));
    if (results.length === 0) return turnedOff;
    await insertAttempts(
      tx,
      results.map(({ atMs, outcome: _, lease: __, ...attempt }) => ({ ...attempt, at: atMs })),
    );
    const endpoints = await lockEndpoints(tx, [...new Set(results.map(({ endpointId }) => endpointId))]);
    for (const some of apart(results)) await noteAttempts(tx, { shown: JSON.stringify(some.map(cellsOf)) });
    for (const endpoint of endpoints) {
      const own = results.filter((result) => result.endpointId === endpoint.id);
      if (await judgeEndpoint(tx, endpoint, own, failingSince)) turnedOff.push(endpoint.id);
    }
    return turnedOff;
  });

const insertAttempts = bulkInsert(webhookAttempts, (insert) => insert.onConflictDoNothing());

/** Results in their order, in lists in which no delivery is there twice. */
function apart(results: AttemptResult[]): AttemptResult[][] {
  const lists: Map<string, AttemptResult>[] = [];
  for (const result of results) {
    const name = `${result.endpointId} ${result.eventId}`;
    const last = lists.findLastIndex((list) => list.has(name));
    const list = lists[last + 1] ?? new Map<string, AttemptResult>();
    lists[last + 1] = list.set(name, result);
  }
  return lists.map((list) => [...list.values()]);
}

/** As the columns of `noteAttempts`: what becomes of the delivery, null where it stays what it was. */
function cellsOf({ eventId, endpointId, lease, outcome, atMs }: AttemptResult) {
  const named = [eventId, endpointId, lease];
  if (outcome === 'delivered') return [...named, 'delivered', null, atMs, 0];
  const nextAttemptAt = outcome === 'gone' ? undefined : outcome.nextAttemptAt;
  const failed = outcome !== 'gone' && nextAttemptAt === undefined;
  return [...named, failed ? 'failed' : null, nextAttemptAt ?? null, null, 1];
}

const noteAttempts = preparedQuery((db, of: Of<{ shown: string }>) => {
  const { lease, leaseUntil, tries, state, nextAttemptAt } = webhookDeliveries;
  // A success counts whoever holds the lease by now, and even where the endpoint was turned off meanwhile: the receiver
  // has it. A failure counts while its own lease holds.
  const counts = sql`(shown.delivered_at is not null or ${lease} = shown.lease)`;
  return db
    .update(webhookDeliveries)
    .set({
      attempts: sql`${webhookDeliveries.attempts} + 1`,
      tries: sql`case when ${counts} then ${tries} + shown.failures else ${tries} end`,
      state: sql`case when ${counts} then coalesce(shown.state, ${state}) else ${state} end`,
      nextAttemptAt: sql`case when ${counts} then coalesce(shown.next_attempt_at, ${nextAttemptAt}) else ${nextAttemptAt} end`,
      deliveredAt: sql`coalesce(shown.delivered_at, ${webhookDeliveries.deliveredAt})`,
      lease: sql`case when ${counts} then null else ${lease} end`,
      leaseUntil: sql`case when ${counts} then 0 else ${leaseUntil} end`,
    })
    .from(
      jsonRows('shown', of.shown, {
        event_id: 'text',
        endpoint_id: 'text',
        lease: 'text',
        state: 'text',
        next_attempt_at: 'bigint',
        delivered_at: 'bigint',
        failures: 'bigint',
      }),
    )
    .where(
      and(
        sql`${webhookDeliveries.eventId} = shown.event_id`,
        sql`${webhookDeliveries.endpointId} = shown.endpoint_id`,
      ),
    );
});

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

/** Extends leases that are still their process's own. */
export async function renewLeases(
  { db, now }: Pick<Database, 'db' | 'now'>,
  held: { leases: string[]; leaseMs: number },
): Promise<void> {
  await inChunks(held.leases, async (some) => {
    await db
      .update(webhookDeliveries)
      .set({ leaseUntil: sql`${now} + ${held.leaseMs}` })
      .where(and(eq(webhookDeliveries.state, 'waiting'), inArray(webhookDeliveries.lease, some)));
    return [];
  });
}

/**
 * Ends the leases of an earlier process of this name, which is gone: what it had under way is due at once. They count as
 * leases that ran out, since a receiver may have got the event.
 */
export async function takeBackLeases(db: Queries, owner: string): Promise<void> {
  const { lease, leaseUntil, state } = webhookDeliveries;
  await db
    .update(webhookDeliveries)
    .set({ lease: null, leaseUntil: 1 })
    // The state is written out, so that the index of what waits is used.
    .where(
      and(
        sql`${state} = 'waiting'`,
        gt(leaseUntil, 1),
        sql`substr(${lease}, 1, ${owner.length + 1}) = ${`${owner}/`}`,
      ),
    );
}
