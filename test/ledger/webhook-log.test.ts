/** The log of deliveries: who sees which, what is sent again, and how endpoints do after a round of attempts. */
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { atMs } from '../../src/ledger/database/database.ts';
import { webhookAttempts, webhookDeliveries, webhookEvents } from '../../src/ledger/schema/webhooks.ts';
import {
  endpointHealth,
  listDeliveries,
  replayEvent,
  showEvent,
  trimDeliveries,
} from '../../src/ledger/webhooks/delivery-log.ts';
import {
  type AttemptResult,
  type LeasedDelivery,
  leaseDeliveries,
  recordAttempts,
} from '../../src/ledger/webhooks/due-deliveries.ts';
import {
  addEndpoint,
  changeEndpoint,
  disableEndpoint,
  lockEndpoint,
  removeEndpoint,
} from '../../src/ledger/webhooks/endpoints.ts';
import { queueWebhookEvents } from '../../src/ledger/webhooks/queue-events.ts';
import { failingSince } from '../../src/rules/webhook-schedule.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;

onEveryDatabase(({ kit }) => {
  const database = () => kit().database;
  const db = () => kit().database.db;
  const endpoint = (brandId: `0x${string}`) =>
    addEndpoint(db(), {
      id: freshKey('we'),
      brandId,
      url: 'https://shop.example/hook',
      types: [],
      isDefault: false,
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      createdAt: NOW_MS,
    });
  const queue = async (brandId: `0x${string}`, { transactionId = null as string | null } = {}) => {
    const id = freshKey('evt_');
    await database().atomically((tx) =>
      queueWebhookEvents(
        tx,
        [
          {
            id,
            brandId,
            type: 'reward.distributed',
            subject: freshKey('reward'),
            body: '{}',
            transactionId,
          },
        ],
        atMs(NOW_MS),
      ),
    );
    return id;
  };
  const lease = (ids: string[], { slots = 4, atOnce = 4 } = {}) =>
    leaseDeliveries(database(), {
      endpoints: ids.map((id) => ({ id, slots })),
      atOnce,
      leaseMs: 60_000,
      newLease: () => freshKey('lease'),
      now: atMs(NOW_MS),
      leaseNow: database().now,
    });
  const result = (of: LeasedDelivery, outcome: AttemptResult['outcome'], atTime = NOW_MS): AttemptResult => ({
    id: freshKey('attempt'),
    eventId: of.eventId,
    endpointId: of.endpoint.id,
    lease: of.lease,
    atMs: atTime,
    ms: 5,
    signedAt: null,
    status: 200,
    why: null,
    answer: 'x',
    outcome,
  });
  const record = (...results: AttemptResult[]) =>
    recordAttempts(database(), { now: atMs(NOW_MS), results: () => results }, failingSince);
  const again = (pausedUntil = 0) => ({ nextAttemptAt: NOW_MS + 5_000, pausedUntil });
  const only = <T>([one, ...more]: T[]): T => {
    if (one === undefined || more.length > 0) throw new Error(`${more.length + 1} in place of one`);
    return one;
  };

  test('deliveries are listed by brand, endpoint and state, the newest event first, with their address', async () => {
    const [brandId, stranger] = [freshAddress(), freshAddress()];
    const [one, two] = [await endpoint(brandId), await endpoint(brandId)];
    await endpoint(stranger);
    const [first, second] = [await queue(brandId), await queue(brandId)];
    const theirs = await queue(stranger);
    const list = async (filter: Partial<Parameters<typeof listDeliveries>[1]>) =>
      (await listDeliveries(db(), { limit: 100, ...filter })).map(
        ({ eventId, endpointId }) => `${eventId} ${endpointId}`,
      );
    const endpoints = [one.id, two.id].sort();
    const events = [first, second].sort().reverse();
    expect(await list({ brandId })).toEqual(
      events.flatMap((event) => endpoints.map((id) => `${event} ${id}`)),
    );
    expect(await list({ brandId, endpointId: one.id })).toEqual(events.map((event) => `${event} ${one.id}`));
    expect(await list({ brandId, limit: 1 })).toHaveLength(1);
    expect((await list({})).some((text) => text.startsWith(theirs))).toBe(true);
    const posted = (await lease([one.id])).find(({ eventId }) => eventId === first);
    if (!posted) throw new Error('nothing was leased');
    await record(result(posted, 'delivered', NOW_MS + 7));
    expect(await list({ brandId, state: 'delivered' })).toEqual([`${first} ${one.id}`]);
    expect(await list({ brandId, state: 'waiting' })).toHaveLength(3);
    const [shown] = await listDeliveries(db(), { brandId, state: 'delivered', limit: 1 });
    expect(shown).toMatchObject({
      url: one.url,
      brandId,
      attempts: 1,
      deliveredAt: NOW_MS + 7,
      createdAt: NOW_MS,
    });
    // What was on its way to an endpoint goes with it, also what was held.
    await database().atomically((tx) => disableEndpoint(tx, one.id, { atMs: NOW_MS, why: 'operator' }));
    const third = await queue(brandId);
    await changeEndpoint(db(), one.id, { disabledAt: null, disabledWhy: null });
    const fourth = await queue(brandId);
    expect(await list({ endpointId: one.id })).toHaveLength(4);
    await removeEndpoint(db(), one.id);
    expect(await list({ endpointId: one.id })).toEqual([`${first} ${one.id}`]);
    expect((await list({ endpointId: two.id })).map((text) => text.split(' ')[0]).sort()).toEqual(
      [first, second, third, fourth].sort(),
    );
    expect(await listDeliveries(db(), { brandId, state: 'delivered', limit: 1 })).toMatchObject([
      { url: null },
    ]);
  });

  test('the health of an endpoint is of its newest deliveries, and of no more than asked', async () => {
    const { id } = await endpoint(freshAddress());
    const health = async (limit: number) =>
      (await endpointHealth(db(), { endpointId: id, limit })).sort((a, b) => a.state.localeCompare(b.state));
    expect(await health(10)).toEqual([]);
    const { brandId } = (await lockEndpoint(db(), id)) ?? {};
    if (!brandId) throw new Error('no endpoint');
    const events = [await queue(brandId), await queue(brandId), await queue(brandId)].sort();
    const oldest = (await lease([id])).find(({ eventId }) => eventId === events[0]);
    if (!oldest) throw new Error('nothing was leased');
    await record(result(oldest, 'delivered', NOW_MS + 7));
    expect(await health(10)).toMatchObject([
      { state: 'delivered', deliveries: 1, lastDeliveredAt: NOW_MS + 7 },
      { state: 'waiting', deliveries: 2, lastDeliveredAt: null, dueSince: NOW_MS },
    ]);
    expect(await health(2)).toMatchObject([{ state: 'waiting', deliveries: 2 }]);
  });

  test('deliveries are listed by type and by what they are about', async () => {
    const brandId = freshAddress();
    await endpoint(brandId);
    const ids = [await queue(brandId), await queue(brandId), await queue(brandId)];
    const all = await listDeliveries(db(), { brandId, limit: 10 });
    const subjects = all.filter(({ eventId }) => eventId !== ids[0]).map(({ subject }) => subject);
    const found = await listDeliveries(db(), { subjects, limit: 10 });
    expect(found.map(({ eventId }) => eventId)).toEqual(ids.slice(1).sort().reverse());
    const ofType = (type: 'reward.distributed' | 'payment.minted') =>
      listDeliveries(db(), { subjects, type, limit: 10 });
    expect(await ofType('reward.distributed')).toHaveLength(2);
    expect(await ofType('payment.minted')).toEqual([]);
  });

  test('an event shows each delivery with its own attempts, and is sent again to all or to one', async () => {
    const brandId = freshAddress();
    const [one, two] = [await endpoint(brandId), await endpoint(brandId)];
    const eventId = await queue(brandId);
    const leased = await lease([two.id, one.id]);
    expect(leased.map((each) => each.endpoint.id)).toEqual([one.id, two.id].sort());
    for (const each of leased)
      if (each.endpoint.id === one.id) {
        await record(result(each, again()));
        await record({ ...result(each, again(), NOW_MS + 1), status: 500 });
      }
    const shown = await showEvent(db(), eventId);
    const logOf = (id: string) => shown?.deliveries.find(({ endpointId }) => endpointId === id)?.log;
    expect([logOf(one.id)?.map(({ status }) => status), logOf(two.id)]).toEqual([[200, 500], []]);
    const replay = (endpointId?: string) =>
      database().atomically((tx) => replayEvent(tx, { eventId, endpointId, now: atMs(NOW_MS + 9) }));
    const stateOf = async (id: string) =>
      (await db().select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id)))[0];
    expect(await replay(one.id)).toBe(1);
    expect([(await stateOf(one.id))?.nextAttemptAt, (await stateOf(two.id))?.nextAttemptAt]).toEqual([
      NOW_MS + 9,
      NOW_MS,
    ]);
    expect(await replay()).toBe(2);
    expect(await stateOf(two.id)).toMatchObject({ state: 'waiting', tries: 0, nextAttemptAt: NOW_MS + 9 });
    // To one that is turned off nothing is sent.
    await database().atomically((tx) => disableEndpoint(tx, two.id, { atMs: NOW_MS, why: 'operator' }));
    expect(await replay()).toBe(1);
  });

  test('slots that are taken already leave room for the rest, or for none', async () => {
    const brandId = freshAddress();
    const { id } = await endpoint(brandId);
    for (let n = 0; n < 5; n++) await queue(brandId);
    expect(await lease([id], { slots: 0 })).toEqual([]);
    expect(await lease([id], { slots: 3 })).toHaveLength(3);
    expect(await lease([id], { atOnce: 3 })).toEqual([]);
    expect(await lease([id], { atOnce: 2 })).toEqual([]);
    expect(await lease([id])).toHaveLength(1);
    expect(await lease([freshKey('nobody'), id], { atOnce: 5 })).toHaveLength(1);
  });

  test('attempts of several endpoints in one commit are each their own', async () => {
    const [brandId, other] = [freshAddress(), freshAddress()];
    const [well, gone, slow] = [await endpoint(brandId), await endpoint(brandId), await endpoint(other)];
    await queue(brandId);
    await queue(other);
    const leased = await lease([well.id, gone.id, slow.id]);
    const of = (id: string) => only(leased.filter((one) => one.endpoint.id === id));
    const turnedOff = await record(
      result(of(well.id), 'delivered'),
      result(of(gone.id), 'gone', NOW_MS + 3),
      result(of(slow.id), again(NOW_MS + 60_000)),
    );
    expect(turnedOff).toEqual([gone.id]);
    const now = (id: string) => lockEndpoint(db(), id);
    expect(await now(well.id)).toMatchObject({ failingSince: null, lastFailedAt: null, disabledAt: null });
    expect(await now(gone.id)).toMatchObject({ disabledAt: NOW_MS + 3, disabledWhy: 'gone' });
    expect(await now(slow.id)).toMatchObject({ failingSince: NOW_MS, pausedUntil: NOW_MS + 60_000 });
    expect(await record()).toEqual([]);
    // The same again, of one that is off: nobody is told twice.
    expect(await record(result(of(gone.id), 'gone', NOW_MS + 4))).toEqual([]);
    expect(await now(gone.id)).toMatchObject({ disabledAt: NOW_MS + 3 });
  });

  test('the longest pause that a receiver asked for counts, until it takes something', async () => {
    const brandId = freshAddress();
    const { id } = await endpoint(brandId);
    for (let n = 0; n < 3; n++) await queue(brandId);
    const [first, second, third] = await lease([id]);
    if (!first || !second || !third) throw new Error('three were leased');
    await record(result(first, again(NOW_MS + 9_000)), result(second, again(NOW_MS + 4_000)));
    expect(await lockEndpoint(db(), id)).toMatchObject({ pausedUntil: NOW_MS + 9_000 });
    // Another failure at the same time changes the pause alone.
    await record(result(second, again(NOW_MS + 10_000)));
    expect(await lockEndpoint(db(), id)).toMatchObject({
      pausedUntil: NOW_MS + 10_000,
      failingSince: NOW_MS,
      lastFailedAt: NOW_MS,
    });
    await record(result(third, 'delivered'));
    expect(await lockEndpoint(db(), id)).toMatchObject({ pausedUntil: 0, failingSince: null });
    await changeEndpoint(db(), id, { lastFailedAt: NOW_MS - 1, failingSince: NOW_MS - 5 });
    await record(result(first, again()));
    expect(await lockEndpoint(db(), id)).toMatchObject({ lastFailedAt: NOW_MS, failingSince: NOW_MS - 5 });
  });

  test('trimming says how many rows went, attempts and events together', async () => {
    await db().delete(webhookAttempts);
    await db().delete(webhookDeliveries);
    await db().delete(webhookEvents);
    const brandId = freshAddress();
    const { id } = await endpoint(brandId);
    await queue(brandId);
    await queue(brandId);
    for (const one of await lease([id])) await record(result(one, 'delivered'));
    const trim = (beforeMs: number, limit = 10) =>
      database().atomically((tx) => trimDeliveries(tx, { beforeMs, limit }));
    expect(await trim(NOW_MS)).toBe(0);
    expect(await trim(NOW_MS + 1, 1)).toBe(2);
    expect(await trim(NOW_MS + 1)).toBe(2);
    expect(await trim(NOW_MS + 1)).toBe(0);
  });
});
