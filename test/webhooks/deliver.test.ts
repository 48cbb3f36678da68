/** The deliverer between a real ledger and real receivers, on a clock that the test moves. */
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { and, eq } from 'drizzle-orm';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { settings } from '../../src/compose/config.ts';
import { localAddresses } from '../../src/dns/system.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { webhookDeliveries, webhookEvents } from '../../src/ledger/schema/webhooks.ts';
import { showEvent } from '../../src/ledger/webhooks/delivery-log.ts';
import {
  addEndpoint,
  changeEndpoint,
  endpointsTurnedOff,
  lockEndpoint,
  removeEndpoint,
} from '../../src/ledger/webhooks/endpoints.ts';
import { queueWebhookEvents } from '../../src/ledger/webhooks/queue-events.ts';
import { adjustableClock, systemClock } from '../../src/lib/clock.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { attemptPausesMs } from '../../src/rules/webhook-schedule.ts';
import { createWebhooks } from '../../src/webhooks/run-webhooks.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { until } from '../kits/service/clock.ts';

const START_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const PREVIOUS = 'whsec_QQKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

type Answer = Parameters<typeof startReceiver>[0];

onEveryDatabase(
  ({ kit }) => {
    const database = () => kit().database;
    /** A deliverer whose clock stands still unless it is moved, and which looks for what is due very often. */
    function delivering(change: Partial<Parameters<typeof createWebhooks>[1]> = {}) {
      const clock = adjustableClock({ startMs: START_MS, frozen: true });
      const alarms: string[] = [];
      const webhooks = createWebhooks(
        {
          database: database(),
          clock,
          realClock: systemClock(),
          random: secureRandom(clock),
          businessTime: () => atMs(clock.now()),
          log: silentLog,
          crash: neverCrash,
          reach: { to: 'any' },
          addressesOf: localAddresses,
          alarms: {
            raise: (code, about) => void alarms.push(`${code} ${about}`),
            clear: (code, about) => void alarms.push(`no ${code} ${about}`),
          },
        },
        { ...settings.webhooks, pollMs: 5, lookEveryMs: 20, stopWaitMs: 100, ...change },
      );
      ending.push(() => webhooks.stop());
      webhooks.start();
      return { clock, alarms, webhooks };
    }
    async function receiving(answer?: Answer) {
      const receiver = await startReceiver(answer);
      ending.push(() => receiver.stop());
      const brandId = freshAddress();
      const id = freshKey('we');
      await addEndpoint(database().db, {
        id,
        brandId,
        url: `http://127.0.0.1:${receiver.port}/hook`,
        types: [],
        isDefault: false,
        secret: SECRET,
        createdAt: START_MS,
      });
      ending.push(() => database().atomically((tx) => removeEndpoint(tx, id)));
      const queue = async (count = 1) => {
        const events = Array.from({ length: count }, () => ({
          id: freshKey('evt_'),
          brandId,
          type: 'reward.distributed' as const,
          subject: freshKey('r'),
          body: JSON.stringify({ text: 'grüße' }),
          transactionId: null,
        }));
        await database().atomically((tx) => queueWebhookEvents(tx, events, atMs(START_MS)));
        return events.map((event) => event.id);
      };
      const stateOf = async (eventId = '') =>
        (await showEvent(database().db, eventId))?.deliveries.find((one) => one.endpointId === id);
      return { ...receiver, id, brandId, queue, stateOf };
    }

    test('an event arrives once, as the bytes that were stored, under signatures that others verify', async () => {
      const { queue, received, stateOf } = await receiving();
      const [eventId = ''] = await queue();
      delivering();
      await until('it is delivered', async () => (await stateOf(eventId))?.state === 'delivered');
      expect(received).toHaveLength(1);
      const [one] = received;
      const headers = one?.headers as Record<string, string>;
      expect(headers['webhook-id']).toBe(eventId);
      expect(new Webhook(SECRET).verify(one?.body ?? '', headers)).toEqual({ text: 'grüße' });
      const bare = createHmac('sha256', SECRET).update(one?.body ?? '');
      expect(headers['x-service-signature']).toBe(bare.digest('hex'));
      expect((await stateOf(eventId))?.log).toMatchObject([{ status: 200, answer: 'ok', why: null }]);
    });

    test('while a rotation overlaps, both secrets verify; afterwards the new one alone', async () => {
      const { id, queue, received, stateOf } = await receiving();
      const previous = { previousSecret: PREVIOUS, previousSecretUntil: START_MS + DAY_MS };
      await changeEndpoint(database().db, id, previous);
      const [first] = await queue();
      const { clock } = delivering();
      await until('it is delivered', async () => (await stateOf(first))?.state === 'delivered');
      clock.advance(DAY_MS);
      const [second] = await queue();
      await until('it is delivered', async () => (await stateOf(second))?.state === 'delivered');
      const verifies = (secret: string, n: number) => {
        const { headers, body } = received[n] ?? { headers: {}, body: '' };
        try {
          return !!new Webhook(secret).verify(body, headers as Record<string, string>);
        } catch {
          return false;
        }
      };
      expect([verifies(SECRET, 0), verifies(PREVIOUS, 0)]).toEqual([true, true]);
      expect([verifies(SECRET, 1), verifies(PREVIOUS, 1)]).toEqual([true, false]);
    });

    test('a failing receiver is tried ten times over three days, each pause within a fifth of the schedule', async () => {
      const at: number[] = [];
      const deliverer = delivering();
      const { queue, stateOf } = await receiving((_, response) => {
        at.push(deliverer.clock.now());
        response.writeHead(500).end('no');
      });
      const [eventId] = await queue();
      for (let tries = 1; tries <= 10; tries++) {
        await until(`attempt ${tries}`, async () => (await stateOf(eventId))?.attempts === tries);
        const next = (await stateOf(eventId))?.nextAttemptAt ?? 0;
        if (tries < 10) deliverer.clock.set(next);
      }
      expect((await stateOf(eventId))?.state).toBe('failed');
      const pauses = at.slice(1).map((time, n) => time - (at[n] ?? 0));
      expect(pauses).toHaveLength(9);
      for (const [n, pause] of pauses.entries()) {
        const usual = attemptPausesMs[n + 1] ?? 0;
        expect(pause).toBeGreaterThanOrEqual(usual * 0.8);
        expect(pause).toBeLessThanOrEqual(usual * 1.2);
      }
      deliverer.clock.advance(30 * DAY_MS);
      expect(at).toHaveLength(10);
    });

    test('after five days of failures the endpoint is off, an alarm says so, and it is over when the endpoint is on', async () => {
      const deliverer = delivering();
      const { id, queue, stateOf } = await receiving((_, response) => response.writeHead(500).end());
      for (let day = 0; day < 5; day++) {
        deliverer.clock.set(START_MS + day * DAY_MS);
        const [eventId] = await queue();
        await until('it was tried', async () => ((await stateOf(eventId))?.attempts ?? 0) > 0);
      }
      deliverer.clock.set(START_MS + 5 * DAY_MS);
      const off = async () => (await endpointsTurnedOff(database().db)).find((one) => one.id === id)?.why;
      await until('it is off', async () => (await off()) === 'failing');
      await until('the alarm', () => deliverer.alarms.includes(`webhook_endpoint_off ${id}`));
      await changeEndpoint(database().db, id, { disabledAt: null, disabledWhy: null });
      await until('its end', () => deliverer.alarms.includes(`no webhook_endpoint_off ${id}`));
    });

    describe('answers', () => {
      test.each([301, 302, 307, 400, 404, 500])('%i is a failure and leads nowhere', async (status) => {
        const elsewhere = await receiving();
        const { queue, received, stateOf } = await receiving((_, response) =>
          response.writeHead(status, { location: `http://127.0.0.1:${elsewhere.port}/` }).end(),
        );
        const [eventId] = await queue();
        delivering();
        await until('it was tried', async () => (await stateOf(eventId))?.attempts === 1);
        expect(await stateOf(eventId)).toMatchObject({ state: 'waiting', log: [{ status }] });
        expect([received.length, elsewhere.received.length]).toEqual([1, 0]);
      });

      test('410 turns the endpoint off at once', async () => {
        const { id, queue, received, stateOf } = await receiving((_, response) =>
          response.writeHead(410).end(),
        );
        const [eventId] = await queue();
        const { alarms } = delivering();
        await until('the alarm', () => alarms.includes(`webhook_endpoint_off ${id}`));
        expect(await lockEndpoint(database().db, id)).toMatchObject({ disabledWhy: 'gone' });
        expect(await stateOf(eventId)).toMatchObject({ state: 'held' });
        expect(received).toHaveLength(1);
        await changeEndpoint(database().db, id, { disabledAt: null, disabledWhy: null });
      });

      test('a receiver that asks for time gets nothing at all until it is over', async () => {
        let asks = true;
        const { queue, received, stateOf } = await receiving((_, response) =>
          asks ? response.writeHead(429, { 'retry-after': '3600' }).end() : response.writeHead(200).end(),
        );
        const [first] = await queue();
        const { clock } = delivering();
        await until('it was tried', async () => (await stateOf(first))?.attempts === 1);
        expect(await stateOf(first)).toMatchObject({ nextAttemptAt: START_MS + 3_600_000 });
        asks = false;
        const [second] = await queue();
        clock.advance(3_599_000);
        const other = await receiving();
        const [third] = await other.queue();
        await until('another gets its own', async () => (await other.stateOf(third))?.state === 'delivered');
        expect(received).toHaveLength(1);
        clock.advance(1_000);
        await until('both are delivered', async () => {
          const states = [(await stateOf(first))?.state, (await stateOf(second))?.state];
          return states.every((state) => state === 'delivered');
        });
      });
    });

    test('receivers that hang hold up no other, and get four posts at once', async () => {
      const held: (() => void)[] = [];
      const hanging = await Promise.all(
        Array.from({ length: 3 }, () =>
          receiving((_, response) => void held.push(() => response.writeHead(200).end())),
        ),
      );
      const healthy = await receiving();
      await Promise.all(hanging.map(({ queue }) => queue(10)));
      const events = await healthy.queue(30);
      delivering({ atOnce: 16 });
      await until('the healthy one has everything', () => healthy.received.length === 30);
      for (const { received } of hanging) expect(received.length).toBeLessThanOrEqual(4);
      for (const eventId of events)
        await until('written down', async () => (await healthy.stateOf(eventId))?.state === 'delivered');
      await until('the others too', () => {
        for (const go of held.splice(0)) go();
        return hanging.every(({ received }) => received.length === 10);
      });
      for (const go of held.splice(0)) go();
    });

    test.each<[string, (response: ServerResponse, held: (() => void)[]) => void]>([
      ['is never answered', (response, held) => void held.push(() => response.destroy())],
      ['always fails', (response) => void response.writeHead(500).end()],
    ])(
      'an event that %s in front of a hundred others of its endpoint holds up none of them',
      async (_, answer) => {
        const held: (() => void)[] = [];
        let bad = '';
        const { queue, received, stateOf } = await receiving((request, response) => {
          if (request.headers['webhook-id'] === bad) answer(response, held);
          else response.writeHead(200).end();
        });
        [bad = ''] = await queue();
        const good = await queue(100);
        delivering();
        for (const eventId of good)
          await until('it is delivered', async () => (await stateOf(eventId))?.state === 'delivered');
        // One post each, and one for the bad one: on a clock that stands still nothing is tried again.
        expect(received).toHaveLength(101);
        expect((await stateOf(bad))?.state).toBe('waiting');
        for (const end of held) end();
      },
    );

    test('an event that cannot be made into a request fails by the schedule, and holds up none of a hundred others', async () => {
      const { queue, received, stateOf, id } = await receiving();
      const [bad = ''] = await queue();
      const good = await queue(100);
      // As a ledger has it that somebody has mended by hand.
      await database().db.delete(webhookEvents).where(eq(webhookEvents.id, bad));
      delivering();
      for (const eventId of good)
        await until('it is delivered', async () => (await stateOf(eventId))?.state === 'delivered');
      const delivery = async () => {
        const [row] = await database()
          .db.select()
          .from(webhookDeliveries)
          .where(and(eq(webhookDeliveries.eventId, bad), eq(webhookDeliveries.endpointId, id)));
        return row;
      };
      await until('its attempt is written down', async () => (await delivery())?.attempts === 1);
      expect(await delivery()).toMatchObject({ state: 'waiting', tries: 1, leaseUntil: 0 });
      expect((await delivery())?.nextAttemptAt).toBeGreaterThan(START_MS);
      expect(received).toHaveLength(100);
    });

    test('what was not answered when the process stopped is delivered by the next, under the same id', async () => {
      let hangs = true;
      const { queue, received, stateOf } = await receiving((_, response) => {
        if (!hangs) response.writeHead(200).end();
      });
      const [eventId] = await queue();
      const { webhooks } = delivering();
      await until('it is posted', () => received.length === 1);
      await webhooks.stop();
      hangs = false;
      delivering();
      await until('it is delivered', async () => (await stateOf(eventId))?.state === 'delivered');
      expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
      expect(received[0]?.body).toEqual(received[1]?.body);
      expect(await stateOf(eventId)).toMatchObject({ attempts: 1 });
    });

    test('several processes at once deliver each event once', async () => {
      const { queue, received, stateOf } = await receiving();
      const events = await queue(60);
      for (let n = 0; n < 3; n++) delivering();
      for (const eventId of events)
        await until('it is delivered', async () => (await stateOf(eventId))?.state === 'delivered');
      expect(received.map(({ headers }) => headers['webhook-id']).sort()).toEqual([...events].sort());
    });

    test('the log is trimmed while it runs', async () => {
      const { queue, stateOf } = await receiving();
      const [eventId] = await queue();
      const { clock } = delivering();
      await until('it is delivered', async () => (await stateOf(eventId))?.state === 'delivered');
      clock.advance(31 * DAY_MS);
      await until('it is forgotten', async () => (await stateOf(eventId)) === undefined);
    });
  },
  { kinds: ['SQLite file', 'Postgres'] },
);
