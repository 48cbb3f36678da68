/** Events of the emulated processor: signed as Stripe signs them, sent until somebody takes them, all of it in a log. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../../kits/network/receivers.ts';
import { until } from '../../kits/service/clock.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';
import { purchase, stripeOf } from './stripe-kit.ts';

const SECRET = 'whsec_of_a_receiver';
let stack: TestService;
let stripe: Stripe;
/** What a program of somebody's hears; it answers with `status`. */
const heard: Stripe.Event[] = [];
let status = 200;
const receiver = createServer((request, response) => {
  void take(request).then((event) => {
    heard.push(event);
    response.writeHead(status).end(status === 200 ? '' : 'not now');
  });
});
const ended: string[] = [];

async function take(request: IncomingMessage): Promise<Stripe.Event> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const signature = request.headers['stripe-signature'] as string;
  // The emulator's clock is moved ahead of the package's, which then takes any signature from the future.
  return new Stripe('sk_test_x').webhooks.constructEvent(Buffer.concat(parts), signature, SECRET);
}

beforeAll(async () => {
  stack = await startTestService();
  stripe = stripeOf(stack.ready);
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stack?.stop();
  receiver.closeAllConnections();
  receiver.close();
});
afterEach(async () => {
  status = 200;
  heard.length = 0;
  for (const id of ended.splice(0)) await remove(id);
});

const control = (path: string) => stack.request(`${stack.ready.urls.control}/processor${path}`);
const step = (session: string, verb: string, wish: object = {}) =>
  stack.control(`/processor/sessions/${session}/${verb}`, wish);
const remove = (id: string) =>
  stack.request(`${stack.ready.urls.control}/processor/endpoints/${id}`, { method: 'DELETE' });
const listen = async (events?: string[]) => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/stripe`;
  const { body } = await stack.control('/processor/endpoints', {
    url,
    secret: SECRET,
    ...(events && { events }),
  });
  ended.push(body.id);
  return body.id as string;
};
const opened = async () => (await stripe.checkout.sessions.create(purchase())).id;
const types = () => heard.map(({ type }) => type);

test('a paid session is told with its payment, and the package accepts the signature', async () => {
  await listen();
  const id = await opened();
  await step(id, 'pay');
  await until('both events came', () => heard.length === 2);
  expect(types().sort()).toEqual(['checkout.session.completed', 'payment_intent.succeeded']);
  const completed = heard.find(({ type }) => type === 'checkout.session.completed');
  expect(completed).toMatchObject({ object: 'event', livemode: false, api_version: '2026-10-28.endive' });
  expect(completed?.data.object).toMatchObject({
    id,
    status: 'complete',
    payment_status: 'paid',
    amount_total: 500,
    metadata: { usd_amount: '5', rwt_amount: '5000' },
  });
  expect(await stripe.events.retrieve(completed?.id ?? '')).toMatchObject({
    type: 'checkout.session.completed',
  });
});

test('a delayed payment completes the session unpaid, and is told again when it arrives', async () => {
  await listen();
  const id = await opened();
  await step(id, 'pay', { later: true, delay: '2h' });
  await until('the completion came', () => heard.length === 1);
  expect(heard[0]).toMatchObject({
    type: 'checkout.session.completed',
    data: { object: { status: 'complete', payment_status: 'unpaid' } },
  });
  await stack.advance('2h');
  await until('the payment came', () => heard.length === 3);
  expect(types().sort()).toEqual([
    ...['checkout.session.async_payment_succeeded', 'checkout.session.completed', 'payment_intent.succeeded'],
  ]);
  expect((await stripe.checkout.sessions.retrieve(id)).payment_status).toBe('paid');
});

test('a delayed payment may fail', async () => {
  await listen(['checkout.session.async_payment_failed']);
  const id = await opened();
  await step(id, 'pay', { fails: 'insufficient_funds' });
  await stack.advance('61s');
  await until('the failure came', () => heard.length === 1);
  expect(heard[0]).toMatchObject({ data: { object: { id, status: 'complete', payment_status: 'unpaid' } } });
});

test('a session that nobody pays expires after a day, and says so', async () => {
  await listen(['checkout.session.expired']);
  const id = await opened();
  await stack.advance('23h59m');
  expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('open');
  await stack.advance('61s');
  expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('expired');
  await until('the expiry came', () => heard.some(({ data }) => (data.object as { id?: string }).id === id));
});

test('refunds and disputes are told with what has gone back', async () => {
  await listen(['charge.refunded', 'charge.dispute.created']);
  const [refunded, disputed] = [await opened(), await opened()];
  for (const id of [refunded, disputed]) await step(id, 'pay');
  await step(refunded, 'refund', { amount: 120 });
  await step(disputed, 'dispute');
  await until('both came', () => heard.length === 2);
  expect(heard.find(({ type }) => type === 'charge.refunded')).toMatchObject({
    data: { object: { object: 'charge', amount: 500, amount_refunded: 120, refunded: false } },
  });
  expect(heard.find(({ type }) => type === 'charge.dispute.created')).toMatchObject({
    data: { object: { object: 'dispute', amount: 500, status: 'needs_response' } },
  });
});

test('what an endpoint does not take is sent again, on the clock of the emulator, with the same id', async () => {
  status = 500;
  const endpoint = await listen(['checkout.session.completed']);
  await step(await opened(), 'pay');
  await until('it came once', () => heard.length === 1);
  const of = `/deliveries?endpoint=${endpoint}`;
  await until(
    'its failure is kept',
    async () => (await control(of)).body.deliveries[0].attempts.length === 1,
  );
  expect((await control(of)).body.deliveries).toMatchObject([
    { state: 'waiting', nextAt: expect.any(String), attempts: [{ status: 500, answer: 'not now' }] },
  ]);
  status = 200;
  await stack.advance('5s');
  await until('it came again', () => heard.length === 2);
  await until('it is delivered', async () => (await control(of)).body.deliveries[0].state === 'delivered');
  expect(new Set(heard.map(({ id }) => id)).size).toBe(1);
  expect((await control(of)).body.deliveries[0]).toMatchObject({
    nextAt: null,
    attempts: [{ status: 500 }, { status: 200 }],
  });
});

test('an endpoint that never takes an event is given up after three days', async () => {
  status = 503;
  const endpoint = await listen(['checkout.session.completed']);
  await step(await opened(), 'pay');
  const delivery = async () => (await control(`/deliveries?endpoint=${endpoint}`)).body.deliveries[0];
  await until('the first attempt is kept', async () => (await delivery()).attempts.length === 1);
  await stack.advance('72h');
  expect(await delivery()).toMatchObject({ state: 'failed', nextAt: null });
  expect(heard).toHaveLength(9);
  const at = (await delivery()).attempts.map((attempt: { at: string }) => Date.parse(attempt.at));
  const [minute, hour] = [60_000, 3_600_000];
  const pauses = [5_000, minute, 10 * minute, hour, 6 * hour, 16 * hour, 24 * hour, 24 * hour];
  // The clock runs, so that each attempt begins a moment after it is due.
  const late = pauses.map((pauseMs, place) => at[place + 1] - at[place] - pauseMs);
  expect(late.filter((ms) => ms < 0 || ms > 30_000)).toEqual([]);
});

test('an endpoint that hangs takes four connections, and holds up no other endpoint', async () => {
  await listen(['checkout.session.completed']);
  const hanging = await startReceiver(() => new Promise(() => {}));
  const { body } = await stack.control('/processor/endpoints', {
    url: `http://127.0.0.1:${hanging.port}/`,
    events: ['payment_intent.succeeded'],
  });
  ended.push(body.id);
  const ids = await Promise.all(Array.from({ length: 20 }, opened));
  for (const id of ids) await step(id, 'pay');
  await until('the other endpoint heard of all', () => heard.length === ids.length);
  await until('four came to the one that hangs', () => hanging.received.length >= 4);
  expect(hanging.received).toHaveLength(4);
  await hanging.stop();
});

test('a payment without webhooks is recorded, and its event can be sent by hand', async () => {
  await listen(['checkout.session.completed']);
  const id = await opened();
  await step(id, 'pay', { webhook: false });
  const { events } = (await control(`/events?object=${id}`)).body;
  expect(events).toMatchObject([{ type: 'checkout.session.completed', objectId: id, deliveries: [] }]);
  const shown = await control(`/events/${events[0].id}`);
  expect(shown.body.payload).toMatchObject({ id: events[0].id, data: { object: { id } } });
  expect(heard).toEqual([]);
  expect((await stack.control(`/processor/events/${events[0].id}/resend`, {})).status).toBe(200);
  await until('it came', () => heard.length === 1);
});

test('an endpoint of the API has a secret of its own, hears what it asked for, and ends', async () => {
  const { id, secret } = await stripe.webhookEndpoints.create({
    url: 'http://127.0.0.1:9/unreachable',
    enabled_events: ['checkout.session.expired'],
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9]{32}$/);
  const { data } = await stripe.webhookEndpoints.list();
  expect(data.find((one) => one.id === id)?.secret).toBeUndefined();
  await step(await opened(), 'expire');
  const failed = async () => (await control(`/deliveries?endpoint=${id}`)).body.deliveries;
  await until('an attempt failed', async () => (await failed())[0]?.attempts[0]?.status === null);
  await stripe.webhookEndpoints.del(id);
  expect((await failed())[0]).toMatchObject({ state: 'failed', nextAt: null });
});

test.each([
  ['no address', { url: 'nowhere' }, 400],
  ['a type that does not exist', { url: 'http://127.0.0.1:1/', events: ['invoice.paid'] }, 409],
  ['a setting that does not exist', { url: 'http://127.0.0.1:1/', retries: 3 }, 400],
])('an endpoint with %s is refused', async (_, wish, expected) => {
  expect((await stack.control('/processor/endpoints', wish)).status).toBe(expected);
});

test.each([
  ['pay', { later: 'soon' }, 'later must be true or false'],
  ['pay', { delay: 'soon' }, 'delay must be a duration such as 30s'],
  ['refund', { amount: 0 }, 'amount must be at least 1'],
  ['refund', { reason: 'because' }, 'reason must be duplicate, fraudulent or requested_by_customer'],
  ['expire', { now: true }, 'now is unknown'],
])('a session is not told to %s with %j', async (verb, wish, message) => {
  const answer = await step(await opened(), verb, wish);
  expect(answer).toMatchObject({ status: 400, body: { message } });
});

test('a session, an event and an endpoint that do not exist are named', async () => {
  const answers = [
    await step('cs_test_none', 'pay'),
    await control('/events/evt_none'),
    await remove('we_none'),
    await stack.control('/checkout/cs_test_none/pay', {}),
  ];
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
    [404, 'No session cs_test_none'],
    [404, 'No event evt_none'],
    [404, 'No endpoint we_none'],
    [404, 'No session cs_test_none'],
  ]);
});

test('a checkout is paid under its own id, and as the latest one', async () => {
  const wish = purchase();
  const made = await stripe.checkout.sessions.create(wish);
  const paid = await stack.control(`/checkout/${wish.client_reference_id}/pay`, {});
  expect(paid.body).toMatchObject({ id: made.id, status: 'complete' });
  const next = await opened();
  expect((await control('/sessions/latest')).body).toMatchObject({ id: next, status: 'open' });
});
