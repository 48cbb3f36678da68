/** Webhooks in the ledger: queued once, leased to one process at a time, recorded, held, recovered and trimmed. */
import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { atMs } from '../../src/ledger/database/database.ts';
import { webhookAttempts, webhookDeliveries, webhookEvents } from '../../src/ledger/schema/webhooks.ts';
import {
  recoverDeliveries,
  replayEvent,
  showEvent,
  trimDeliveries,
} from '../../src/ledger/webhooks/delivery-log.ts';
import {
  type AttemptResult,
  dueEndpoints,
  type LeasedDelivery,
  leaseDeliveries,
  recordAttempts,
  releaseDeliveries,
  webhookBacklog,
} from '../../src/ledger/webhooks/due-deliveries.ts';
import {
  addEndpoint,
  changeEndpoint,
  disableEndpoint,
  endpointsTurnedOff,
  lockEndpoint,
  removeEndpoint,
} from '../../src/ledger/webhooks/endpoints.ts';
import {
  type NewWebhookEvent,
  queueWebhookEvents,
  takeBackEvents,
} from '../../src/ledger/webhooks/queue-events.ts';
import { FAILING_MAX_MS, failingSince } from '../../src/rules/webhook-schedule.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;

onEveryDatabase(({ kit }) => {
  const database = () => kit().database;
  const db = () => kit().database.db;
  const endpoint = (brandId: `0x${string}`, change: Partial<Parameters<typeof addEndpoint>[1]> = {}) =>
    addEndpoint(db(), {
      id: freshKey('we'),
      brandId,
      url: 'https://shop.example/hook',
      types: [],
      isDefault: false,
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      createdAt: NOW_MS,
      ...change,
    });
  const event = (brandId: `0x${string}`, change: Partial<NewWebhookEvent & { createdAt: number }> = {}) => ({
    id: freshKey('evt_'),
    brandId,
    type: 'reward.distributed' as const,
    subject: freshKey('reward'),
    body: '{"a":"ü"}',
    transactionId: null,
    createdAt: NOW_MS,
    ...change,
  });
  const queue = (...events: ReturnType<typeof event>[]) =>
    database().atomically(async (tx) => {
      let due = 0;
      for (const one of events) due += await queueWebhookEvents(tx, [one], atMs(one.createdAt));
      return due;
    });
  const lease = (endpointId: string, { slots = 4, nowMs = NOW_MS, leaseMs = 60_000 } = {}) =>
    leaseDeliveries(database(), {
      endpoints: [{ id: endpointId, slots }],
      atOnce: 4,
      leaseMs,
      newLease: () => freshKey('lease'),
      now: atMs(nowMs),
      leaseNow: database().now,
    });
  const dueNow = async (nowMs = NOW_MS) =>
    (await dueEndpoints(db(), { now: atMs(nowMs), leaseNow: database().now })).map(({ id }) => id);
  const result = (
    { eventId, lease: name, endpoint: { id: endpointId } }: LeasedDelivery,
    outcome: AttemptResult['outcome'],
    atTime = NOW_MS,
  ): AttemptResult => ({
    id: freshKey('attempt'),
    eventId,
    endpointId,
    lease: name,
    atMs: atTime,
    ms: 5,
    signedAt: null,
    status: outcome === 'delivered' ? 200 : 500,
    why: null,
    answer: 'x',
    outcome,
  });
  const record = (...results: AttemptResult[]) =>
    recordAttempts(database(), { now: atMs(NOW_MS), results: () => results }, failingSince);
  const deliveryOf = async (eventId: string, endpointId: string) => {
    const [row] = await db()
      .select()
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.eventId, eventId), eq(webhookDeliveries.endpointId, endpointId)));
    return row;
  };
  const again = { nextAttemptAt: NOW_MS + 5_000, pausedUntil: 0 };

  describe('queued', () => {
    test('an event goes to every endpoint of its brand that wants its type, under one id', async () => {
      const brandId = freshAddress();
      const [all, perks] = [await endpoint(brandId), await endpoint(brandId, { types: ['perk.redeemed'] })];
      const other = await endpoint(freshAddress());
      const [reward, perk] = [event(brandId), event(brandId, { type: 'perk.redeemed' })];
      expect(await queue(reward, perk)).toBe(3);
      expect(await deliveryOf(reward.id, all.id)).toMatchObject({ state: 'waiting', nextAttemptAt: NOW_MS });
      expect(await deliveryOf(perk.id, all.id)).toMatchObject({ state: 'waiting' });
      expect(await deliveryOf(perk.id, perks.id)).toMatchObject({ state: 'waiting' });
      expect(await deliveryOf(reward.id, perks.id)).toBeUndefined();
      expect(await dueNow()).toEqual(expect.arrayContaining([all.id, perks.id]));
      expect(await dueNow()).not.toContain(other.id);
    });

    test('an event that no endpoint wants is not written', async () => {
      const brandId = freshAddress();
      await endpoint(brandId, { types: ['perk.redeemed'] });
      const reward = event(brandId);
      expect(await queue(reward, event(freshAddress()))).toBe(0);
      expect(await showEvent(db(), reward.id)).toBeUndefined();
    });

    test('a second event about the same is left out', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const [first, second] = [event(brandId, { subject: 'one' }), event(brandId, { subject: 'one' })];
      expect(await queue(first)).toBe(1);
      expect(await queue(second)).toBe(0);
      expect(await deliveryOf(second.id, id)).toBeUndefined();
    });

    test('more events than one statement takes are all queued', async () => {
      const brandId = freshAddress();
      await endpoint(brandId);
      expect(await queue(...Array.from({ length: 1_201 }, () => event(brandId)))).toBe(1_201);
    });

    test('an event of a block that is taken back is forgotten, unless somebody may have seen it', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const transactionId = freshKey('transaction');
      const [seen, unseen] = [event(brandId, { transactionId }), event(brandId, { transactionId })];
      await queue(seen, unseen);
      const leased = await lease(id, { slots: 1 });
      await record(...leased.map((one) => result(one, again)));
      const [first] = leased;
      const left = [seen, unseen].find((one) => one.id !== first?.eventId);
      await database().atomically((tx) => takeBackEvents(tx, [transactionId]));
      expect(await deliveryOf(first?.eventId ?? '', id)).toBeDefined();
      expect(await deliveryOf(left?.id ?? '', id)).toBeUndefined();
      expect(await queue({ ...seen, id: freshKey('evt_') }, { ...unseen, id: freshKey('evt_') })).toBe(1);
    });

    test('what is being posted while its block is taken back stays, since a receiver may have it', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const posted = event(brandId, { transactionId: freshKey('transaction') });
      await queue(posted);
      await lease(id, { leaseMs: -1_000 });
      await database().atomically((tx) => takeBackEvents(tx, [posted.transactionId ?? '']));
      expect(await deliveryOf(posted.id, id)).toBeDefined();
    });
  });

  describe('leased', () => {
    test('one delivery goes to one of many processes that ask at once, four at a time', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(...Array.from({ length: 10 }, () => event(brandId)));
      const leased = (await Promise.all(Array.from({ length: 6 }, () => lease(id)))).flat();
      expect(leased).toHaveLength(4);
      expect(new Set(leased.map(({ eventId }) => eventId)).size).toBe(4);
      expect(leased[0]).toMatchObject({ body: '{"a":"ü"}', tries: 0, endpoint: { id } });
      const [first] = leased;
      if (!first) throw new Error('nothing was leased');
      await record(result(first, 'delivered'));
      expect(await lease(id)).toHaveLength(1);
    });

    test('a lease that ran out is given to the next process', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(event(brandId));
      const [dead] = await lease(id, { leaseMs: -1_000 });
      const [next] = await lease(id);
      expect(next).toMatchObject({ eventId: dead?.eventId, tries: 0 });
      if (!dead || !next) throw new Error('nothing was leased');
      // The first one was only slow: its failure does not undo what the second one does now …
      await record(result(dead, again));
      expect(await deliveryOf(next.eventId, id)).toMatchObject({ lease: next.lease, attempts: 1, tries: 0 });
      // … and its success holds.
      await record(result(dead, 'delivered'));
      await record(result(next, again));
      expect(await deliveryOf(next.eventId, id)).toMatchObject({ state: 'delivered', attempts: 3 });
    });

    test('leases that are given back can be taken at once', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(event(brandId));
      const leased = await lease(id);
      expect(await dueNow()).not.toContain(id);
      await releaseDeliveries(
        db(),
        leased.map((one) => one.lease),
      );
      expect(await lease(id)).toHaveLength(1);
    });

    test('nothing is due before its time, while its endpoint asked for time, or when that is turned off', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(event(brandId, { createdAt: NOW_MS + 1 }));
      expect(await dueNow()).not.toContain(id);
      expect(await lease(id)).toEqual([]);
      expect(await dueNow(NOW_MS + 1)).toContain(id);
      await changeEndpoint(db(), id, { pausedUntil: NOW_MS + 2 });
      expect(await dueNow(NOW_MS + 1)).not.toContain(id);
      expect(await dueNow(NOW_MS + 2)).toContain(id);
      await database().atomically((tx) => disableEndpoint(tx, id, { atMs: NOW_MS, why: 'operator' }));
      expect(await dueNow(NOW_MS + 2)).not.toContain(id);
      expect(await lease(id, { nowMs: NOW_MS + 2 })).toEqual([]);
    });
  });

  describe('recorded', () => {
    test('a failure waits for its next attempt, and after the last one it is failed', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(event(brandId));
      const [first] = await lease(id);
      if (!first) throw new Error('nothing was leased');
      await record(result(first, again));
      expect(await deliveryOf(first.eventId, id)).toMatchObject({ state: 'waiting', tries: 1, attempts: 1 });
      expect(await lease(id)).toEqual([]);
      const [second] = await lease(id, { nowMs: NOW_MS + 5_000 });
      if (!second) throw new Error('nothing was leased');
      expect(second.tries).toBe(1);
      await record(result(second, { nextAttemptAt: undefined, pausedUntil: 0 }));
      expect(await deliveryOf(first.eventId, id)).toMatchObject({ state: 'failed', tries: 2 });
      const shown = await showEvent(db(), first.eventId);
      expect(shown?.deliveries[0]?.log).toMatchObject([{ status: 500 }, { status: 500 }]);
    });

    test('410 turns the endpoint off at once and holds what waits for it', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const [one, two] = [event(brandId), event(brandId)];
      await queue(one, two);
      const [first] = await lease(id, { slots: 1 });
      if (!first) throw new Error('nothing was leased');
      await record(result(first, 'gone'));
      expect(await lockEndpoint(db(), id)).toMatchObject({ disabledWhy: 'gone', disabledAt: NOW_MS });
      for (const { id: eventId } of [one, two])
        expect(await deliveryOf(eventId, id)).toMatchObject({ state: 'held' });
      expect(await endpointsTurnedOff(db())).toContainEqual({ id, brandId, why: 'gone' });
      const later = event(brandId);
      expect(await queue(later)).toBe(0);
      expect(await deliveryOf(later.id, id)).toMatchObject({ state: 'held' });
    });

    test('five days of only failures turn an endpoint off; one success in between begins the time again', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const failAt = async (
        atTime: number,
        outcome: AttemptResult['outcome'] = { nextAttemptAt: atTime, pausedUntil: 0 },
      ) => {
        const [leased] = await lease(id, { nowMs: atTime, slots: 1 });
        if (!leased) throw new Error('nothing was leased');
        await record(result(leased, outcome, atTime));
        return lockEndpoint(db(), id);
      };
      await queue(event(brandId), event(brandId));
      expect(await failAt(NOW_MS)).toMatchObject({ failingSince: NOW_MS, lastFailedAt: NOW_MS });
      for (const day of [1, 2, 3]) await failAt(NOW_MS + day * DAY_MS);
      expect(await failAt(NOW_MS + 4 * DAY_MS, 'delivered')).toMatchObject({ failingSince: null });
      const begin = NOW_MS + 4 * DAY_MS + 1;
      for (const day of [0, 1, 2, 3, 4]) expect((await failAt(begin + day * DAY_MS))?.disabledAt).toBeNull();
      expect(await failAt(begin + FAILING_MAX_MS)).toMatchObject({ disabledWhy: 'failing' });
      expect(await endpointsTurnedOff(db())).toContainEqual({ id, brandId, why: 'failing' });
    });

    test('the backlog says how much waits and since when', async () => {
      const before = await webhookBacklog(db(), atMs(NOW_MS));
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(event(brandId, { createdAt: NOW_MS - 10 * DAY_MS }), event(brandId));
      const after = await webhookBacklog(db(), atMs(NOW_MS));
      expect(after.waiting - before.waiting).toBe(2);
      expect(after.overdueMs).toBe(10 * DAY_MS);
      await removeEndpoint(db(), id);
      expect((await webhookBacklog(db(), atMs(NOW_MS))).waiting).toBe(before.waiting);
    });
  });

  describe('looked after', () => {
    test('what was held and what failed since a moment is recovered; what is older stays', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const old = event(brandId, { createdAt: NOW_MS - DAY_MS });
      const young = event(brandId);
      await queue(old, young);
      await database().atomically((tx) => disableEndpoint(tx, id, { atMs: NOW_MS, why: 'operator' }));
      await changeEndpoint(db(), id, { disabledAt: null, disabledWhy: null });
      expect(await lease(id)).toEqual([]);
      const recovered = await database().atomically((tx) =>
        recoverDeliveries(tx, { endpointId: id, sinceMs: NOW_MS - 1, now: atMs(NOW_MS) }),
      );
      expect(recovered).toBe(1);
      const [first] = await lease(id);
      expect(first?.eventId).toBe(young.id);
      if (!first) throw new Error('nothing was leased');
      await record(result(first, { nextAttemptAt: undefined, pausedUntil: 0 }));
      expect(await deliveryOf(young.id, id)).toMatchObject({ state: 'failed' });
      const since = { endpointId: id, sinceMs: NOW_MS - 1, now: atMs(NOW_MS) };
      expect(await database().atomically((tx) => recoverDeliveries(tx, since))).toBe(1);
      expect(await deliveryOf(young.id, id)).toMatchObject({ state: 'waiting', tries: 0 });
      // What waits for tomorrow is due now; what is due already, or under way, is left alone.
      const [again] = await lease(id);
      if (!again) throw new Error('nothing was leased');
      expect(await database().atomically((tx) => recoverDeliveries(tx, since))).toBe(0);
      await record(result(again, { nextAttemptAt: NOW_MS + DAY_MS, pausedUntil: 0 }));
      expect(await lease(id)).toEqual([]);
      expect(await database().atomically((tx) => recoverDeliveries(tx, since))).toBe(1);
      expect(await lease(id)).toHaveLength(1);
    });

    test('a delivered event is sent again under its id, with its schedule from the beginning', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      await queue(event(brandId));
      const [first] = await lease(id);
      if (!first) throw new Error('nothing was leased');
      await record(result(first, 'delivered'));
      const { eventId, body } = first;
      expect(await database().atomically((tx) => replayEvent(tx, { eventId, now: atMs(NOW_MS) }))).toBe(1);
      expect(await lease(id)).toMatchObject([{ eventId, body, tries: 0 }]);
    });

    test('what is older than the log keeps is trimmed, what still waits is not', async () => {
      const brandId = freshAddress();
      const { id } = await endpoint(brandId);
      const old = [event(brandId), event(brandId)].map((one) => ({
        ...one,
        createdAt: NOW_MS - 40 * DAY_MS,
      }));
      await queue(...old);
      const [done] = await lease(id, { slots: 1 });
      if (!done) throw new Error('nothing was leased');
      await record(result(done, 'delivered', NOW_MS - 40 * DAY_MS));
      const beforeMs = NOW_MS - 30 * DAY_MS;
      while ((await database().atomically((tx) => trimDeliveries(tx, { beforeMs, limit: 1 }))) > 0);
      const left = old.find((one) => one.id !== done.eventId);
      expect(await deliveryOf(done.eventId, id)).toBeUndefined();
      expect(await deliveryOf(left?.id ?? '', id)).toMatchObject({ state: 'waiting' });
      expect(
        await db().select().from(webhookAttempts).where(eq(webhookAttempts.eventId, done.eventId)),
      ).toEqual([]);
      expect(await db().select().from(webhookEvents).where(eq(webhookEvents.id, done.eventId))).toEqual([]);
    });
  });
});
