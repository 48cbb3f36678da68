/** The adapter to Stripe: what it sends, how it waits out trouble, and which signed events it believes. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EventProblem, ProcessorFailure } from '../../src/payments/processor.ts';
import { createStripe } from '../../src/payments/stripe.ts';

const NOW = Date.UTC(2030, 0, 1, 12);
const KEY = 'sk_test_thatNobodyMayRead';
const SECRET = 'whsec_b2xkLXNlY3JldA==';
const NEW_SECRET = 'whsec_bmV3LXNlY3JldA==';

interface Sent {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  fields: Record<string, string>;
}
type Reply = { status: number; body: unknown } | 'hang up';

let server: Server;
let sent: Sent[] = [];
let replies: Reply[] = [];

beforeEach(async () => {
  sent = [];
  replies = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stripe');
    const body = new URLSearchParams(Buffer.concat(chunks).toString());
    const fields = Object.fromEntries([...searchParams, ...body]);
    sent.push({ method: request.method ?? '', path: pathname, headers: request.headers, fields });
    const reply = replies.shift() ?? { status: 500, body: {} };
    if (reply === 'hang up') return void request.socket.destroy();
    response.writeHead(reply.status, { 'content-type': 'application/json', 'request-id': 'req_1' });
    response.end(JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const adapter = (livemode = false) =>
  createStripe(
    { clock: { now: () => NOW } },
    {
      secretKey: KEY,
      webhookSecrets: [SECRET, NEW_SECRET],
      livemode,
      address: () => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, protocol: 'http' }),
      timeoutMs: 2_000,
      retriesMax: 1,
      limitedPausesMs: [1, 1],
    },
  );

const request = {
  id: 'checkout-1',
  amount: 2_550,
  currency: 'usd',
  productName: '25500 RWT',
  userEmail: 'buyer@shop.example',
  successUrl: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
  cancelUrl: 'https://shop.example/cart',
  metadata: { wallet: `0x${'ab'.repeat(20)}`, usd_amount: '25.50', rwt_amount: '25500' },
};
const session = {
  id: 'cs_test_1',
  object: 'checkout.session',
  client_reference_id: 'checkout-1',
  url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  status: 'open',
  payment_status: 'unpaid',
  payment_intent: null as unknown,
  amount_total: 2_550,
  currency: 'usd',
  livemode: false,
  metadata: request.metadata,
  created: NOW / 1_000,
  expires_at: NOW / 1_000 + 86_400,
};
const ok = (body: unknown): Reply => ({ status: 200, body });
const failing = (status: number, error: Record<string, unknown>): Reply => ({ status, body: { error } });
const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

test('a session is made with what the ledger planned, under our id as idempotency key and a pinned version', async () => {
  replies = [ok(session)];
  expect(await adapter().createSession(request)).toEqual({
    id: 'cs_test_1',
    checkoutId: 'checkout-1',
    url: session.url,
    status: 'open',
    paymentStatus: 'unpaid',
    paymentIntentId: null,
    amountTotal: 2_550,
    currency: 'usd',
    livemode: false,
    metadata: request.metadata,
    refundedAmount: 0,
    disputed: false,
    createdAtMs: NOW,
    expiresAtMs: NOW + 86_400_000,
  });
  expect(sent).toMatchObject([
    {
      method: 'POST',
      path: '/v1/checkout/sessions',
      headers: {
        authorization: `Bearer ${KEY}`,
        'idempotency-key': 'checkout-1',
        'stripe-version': '2026-10-28.endive',
      },
      fields: {
        mode: 'payment',
        client_reference_id: 'checkout-1',
        customer_email: 'buyer@shop.example',
        'line_items[0][quantity]': '1',
        'line_items[0][price_data][currency]': 'usd',
        'line_items[0][price_data][unit_amount]': '2550',
        'line_items[0][price_data][product_data][name]': '25500 RWT',
        'adaptive_pricing[enabled]': 'false',
        'metadata[wallet]': request.metadata.wallet,
        'metadata[usd_amount]': '25.50',
        'metadata[rwt_amount]': '25500',
        'payment_intent_data[metadata][wallet]': request.metadata.wallet,
        success_url: request.successUrl,
        cancel_url: request.cancelUrl,
      },
    },
  ]);
});

test('a session is found with what was given back and what is asked back', async () => {
  const charge = { id: 'ch_1', amount_refunded: 50, disputed: true };
  replies = [
    ok({ ...session, payment_status: 'paid', payment_intent: { id: 'pi_1', latest_charge: charge } }),
    ok({ ...session, payment_intent: 'pi_2', metadata: null, client_reference_id: null }),
  ];
  const stripe = adapter();
  expect(await stripe.findSession('cs_test_1')).toMatchObject({
    paymentStatus: 'paid',
    paymentIntentId: 'pi_1',
    refundedAmount: 50,
    disputed: true,
  });
  expect(await stripe.findSession('cs_test_1')).toMatchObject({
    checkoutId: null,
    paymentIntentId: 'pi_2',
    metadata: {},
    refundedAmount: 0,
    disputed: false,
  });
  expect(sent[0]).toMatchObject({
    method: 'GET',
    path: '/v1/checkout/sessions/cs_test_1',
    fields: { 'expand[0]': 'payment_intent.latest_charge' },
  });
});

test('a session that Stripe does not have is undefined', async () => {
  replies = [failing(404, { type: 'invalid_request_error', code: 'resource_missing', param: 'session' })];
  expect(await adapter().findSession('cs_test_none')).toBeUndefined();
});

test('sessions and events are read page after page', async () => {
  const event = (id: string, type: string, object: object) => ({
    id,
    object: 'event',
    type,
    created: NOW / 1_000,
    livemode: false,
    data: { object },
  });
  replies = [
    ok({ data: [{ ...session, id: 'cs_3' }, session], has_more: true }),
    failing(429, { type: 'rate_limit_error' }),
    ok({ data: [{ ...session, id: 'cs_0' }], has_more: false }),
    ok({
      data: [
        event('evt_1', 'charge.refunded', { id: 'ch_1', payment_intent: 'pi_1', amount_refunded: 2_550 }),
        event('evt_2', 'charge.dispute.created', { id: 'dp_1', payment_intent: { id: 'pi_2' } }),
        event('evt_3', 'checkout.session.completed', { id: 'cs_1' }),
        event('evt_4', 'charge.refunded', { id: 'ch_2', payment_intent: null }),
      ],
      has_more: false,
    }),
  ];
  const stripe = adapter();
  const found = await collect(stripe.sessionsSince(NOW + 999));
  expect(found.map(({ id }) => id)).toEqual(['cs_3', 'cs_test_1', 'cs_0']);
  expect(sent.slice(0, 3).map(({ fields }) => fields)).toEqual([
    { 'created[gte]': String(NOW / 1_000), limit: '100', 'expand[0]': 'data.payment_intent.latest_charge' },
    expect.objectContaining({ starting_after: 'cs_test_1' }),
    expect.objectContaining({ starting_after: 'cs_test_1' }),
  ]);
  const events = await collect(stripe.eventsSince(NOW));
  expect(events.map(({ id, objectId, about }) => [id, objectId, about])).toEqual([
    ['evt_1', 'ch_1', { kind: 'refund', paymentIntentId: 'pi_1', refundedAmount: 2_550 }],
    ['evt_2', 'dp_1', { kind: 'dispute', paymentIntentId: 'pi_2', disputeId: 'dp_1' }],
    ['evt_3', 'cs_1', { kind: 'session', sessionId: 'cs_1', saysPaid: false }],
    ['evt_4', 'ch_2', { kind: 'other' }],
  ]);
});

describe('trouble', () => {
  test('a limit and a lost connection are waited out, always under the same idempotency key', async () => {
    const limit = failing(429, { type: 'rate_limit_error', code: 'rate_limit' });
    replies = [limit, limit, 'hang up', ok(session)];
    expect(await adapter().createSession(request)).toMatchObject({ id: 'cs_test_1' });
    expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(4).fill('checkout-1'));
  });

  test.each<[string, Reply, Partial<ProcessorFailure>]>([
    [
      'a limit that lasts',
      failing(429, { type: 'rate_limit_error', code: 'rate_limit' }),
      { kind: 'unavailable', code: 'rate_limit' },
    ],
    ['an outage', failing(503, { type: 'api_error' }), { kind: 'unavailable', code: 'StripeAPIError' }],
    ['a dead line', 'hang up', { kind: 'unavailable', code: 'StripeConnectionError' }],
    [
      'the same key in use',
      failing(409, { type: 'idempotency_error', code: 'idempotency_key_in_use' }),
      { kind: 'unavailable', code: 'idempotency_key_in_use' },
    ],
    [
      'a wrong key',
      failing(401, { type: 'invalid_request_error', message: `Invalid API Key provided: ${KEY}` }),
      { kind: 'refused', code: 'StripeAuthenticationError' },
    ],
    [
      'a wrong parameter',
      failing(400, {
        type: 'invalid_request_error',
        code: 'amount_too_small',
        param: 'line_items',
        message: `${KEY} buyer@shop.example`,
      }),
      { kind: 'refused', code: 'amount_too_small' },
    ],
  ])('%s fails as what it is, without keys and contents in its text', async (_what, reply, failure) => {
    replies = Array(12).fill(reply);
    const error = await adapter()
      .createSession(request)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProcessorFailure);
    expect(error).toMatchObject(failure);
    const told = `${(error as Error).stack} ${JSON.stringify(error)}`;
    expect(told).not.toContain(KEY);
    expect(told).not.toContain('buyer@shop.example');
    expect((error as Error).cause).toBeUndefined();
  });
});

describe('an event', () => {
  const payload = {
    id: 'evt_1',
    object: 'event',
    type: 'checkout.session.completed',
    created: NOW / 1_000 - 3,
    livemode: false,
    data: { object: { id: 'cs_test_1', metadata: { note: 'schön ✓' } } },
  };
  const text = JSON.stringify(payload);
  const sign = (body: string, { secret = SECRET, ageSeconds = 0 } = {}) =>
    Stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret,
      timestamp: NOW / 1_000 - ageSeconds,
    });
  const read = (body: string | Uint8Array, signature: string, livemode = false) =>
    adapter(livemode).readEvent({ body: typeof body === 'string' ? Buffer.from(body) : body, signature });
  const problem = (body: string | Uint8Array, signature: string, livemode = false) =>
    read(body, signature, livemode).then(
      () => 'believed',
      ({ code }: EventProblem) => code,
    );

  test('that the official package has signed is believed, with the old secret and with the new one', async () => {
    const event = {
      id: 'evt_1',
      type: 'checkout.session.completed',
      createdAtMs: NOW - 3_000,
      livemode: false,
      objectId: 'cs_test_1',
      about: { kind: 'session', sessionId: 'cs_test_1', saysPaid: false },
    };
    expect(await read(text, sign(text))).toEqual(event);
    expect(await read(text, sign(text, { secret: NEW_SECRET }))).toEqual(event);
    const [time, other] = sign(text, { secret: 'whsec_another' }).split(',');
    expect(await read(text, `${time},${other},v0=abc,${sign(text).split(',')[1]}`)).toEqual(event);
  });

  test.each([
    [0, 'believed'],
    [300, 'believed'],
    [301, 'timestamp_too_old'],
    [31_536_000, 'timestamp_too_old'],
    [-300, 'believed'],
    [-301, 'timestamp_in_future'],
    [-31_536_000, 'timestamp_in_future'],
  ])('signed %i s ago: %s', async (ageSeconds, outcome) => {
    expect(await problem(text, sign(text, { ageSeconds }))).toBe(outcome);
  });

  test('is refused with any byte of it changed', async () => {
    const signature = sign(text);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(await problem(changed, signature), `byte ${at}`).toMatch(/signature_wrong|body_malformed/);
    }
    for (const changed of [`\ufeff${text}`, `${text}\n`, JSON.stringify(payload, null, 1), ''])
      expect(await problem(changed, signature)).toBe('signature_wrong');
  });

  test('is refused with any digit of its signature or its time changed', async () => {
    const signature = sign(text);
    for (const [at, digit] of [...signature].entries()) {
      if (!/[0-9a-f]/.test(digit) || signature.slice(at).startsWith('v1')) continue;
      const changed = `${signature.slice(0, at)}${digit === '7' ? '8' : '7'}${signature.slice(at + 1)}`;
      expect(await problem(text, changed), changed).toMatch(/^signature_/);
    }
  });

  const valid = sign(text);
  test.each([
    '',
    'v1',
    't=,v1=',
    't=1',
    valid.split(',')[1] ?? '',
    valid.replace('v1=', 'v0='),
    valid.replace('t=', 't=+'),
    `${valid},t=1`,
    valid.replace('v1=', 'v1= '),
    `${valid},v1=short`,
    `t=${NOW / 1_000},${Array(11)
      .fill(`v1=${'a'.repeat(64)}`)
      .join(',')}`,
    valid.toUpperCase(),
  ])('with the header %j is malformed', async (header) => {
    expect(await problem(text, header)).toBe('signature_malformed');
  });

  test.each([
    'null',
    '[]',
    '"evt_1"',
    '{}',
    'not JSON',
    JSON.stringify({ ...payload, id: 1 }),
    JSON.stringify({ ...payload, created: 'now' }),
    JSON.stringify({ ...payload, livemode: 'false' }),
    JSON.stringify({ ...payload, data: {} }),
  ])('that is signed and reads %s is malformed', async (body) => {
    expect(await problem(body, sign(body))).toBe('body_malformed');
  });

  test('of bytes that are not UTF-8 is malformed', async () => {
    expect(await problem(Buffer.from([0x7b, 0xff, 0x7d]), sign('{\ufffd}'))).toBe('body_malformed');
  });

  test('of the other mode is refused', async () => {
    expect(await problem(text, sign(text), true)).toBe('livemode_wrong');
    const live = JSON.stringify({ ...payload, livemode: true });
    expect(await problem(live, sign(live), true)).toBe('believed');
    expect(await problem(live, sign(live))).toBe('livemode_wrong');
  });

  test('whose object is unknown to this version of the API is of no interest, and no mistake', async () => {
    const other = JSON.stringify({ ...payload, type: 'payment_intent.succeeded', data: { object: {} } });
    expect(await read(other, sign(other))).toMatchObject({ objectId: '', about: { kind: 'other' } });
  });
});
