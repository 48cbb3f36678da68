/** The emulated processor as the official package of Stripe sees it: sessions, their payment, and what it refuses. */
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readyEnvironment } from '../../../src/stack/ready.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';
import { purchase, stripeOf, stripeProblem } from './stripe-kit.ts';

let stack: TestService;
let stripe: Stripe;

beforeAll(async () => {
  stack = await startTestService({ frozen: true });
  stripe = stripeOf(stack.ready);
});
afterAll(() => stack?.stop());

const step = (session: string, verb: string, wish: object = {}) =>
  stack.control(`/processor/sessions/${session}/${verb}`, wish);
const seconds = async () =>
  Math.floor((await stack.request(`${stack.ready.urls.control}/clock`)).body.nowMs / 1_000);

describe('a checkout session', () => {
  test('comes back with what it was made from, and expires after a day', async () => {
    const wish = purchase();
    const made = await stripe.checkout.sessions.create(wish);
    expect(made.id).toMatch(/^cs_test_[A-Za-z0-9]{58}$/);
    const found = await stripe.checkout.sessions.retrieve(made.id);
    expect(found).toMatchObject({
      object: 'checkout.session',
      client_reference_id: wish.client_reference_id,
      customer_email: 'alice@demo.example',
      metadata: wish.metadata,
      amount_subtotal: 500,
      amount_total: 500,
      currency: 'usd',
      livemode: false,
      mode: 'payment',
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      success_url: wish.success_url,
      cancel_url: wish.cancel_url,
      url: `${stack.ready.processor.url}/_pay/${made.id}`,
      created: await seconds(),
      expires_at: (await seconds()) + 86_400,
    });
  });

  test('shows its lines where they are asked for', async () => {
    const made = await stripe.checkout.sessions.create(
      purchase({
        line_items: [
          {
            quantity: 2,
            price_data: { currency: 'usd', unit_amount: 150, product_data: { name: 'Pen & ink' } },
          },
          { quantity: 1, price_data: { currency: 'usd', unit_amount: 20, product_data: { name: 'Paper' } } },
        ],
      }),
    );
    expect(made.line_items).toBeUndefined();
    const { line_items: lines } = await stripe.checkout.sessions.retrieve(made.id, {
      expand: ['line_items'],
    });
    expect(
      lines?.data.map(({ description, quantity, amount_total: total }) => [description, quantity, total]),
    ).toEqual([
      ['Pen & ink', 2, 300],
      ['Paper', 1, 20],
    ]);
    const listed = await stripe.checkout.sessions.listLineItems(made.id);
    expect(listed.data).toEqual(lines?.data);
    expect(made.amount_total).toBe(320);
  });

  test('is paid: complete, with a payment that has its metadata and a charge', async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    expect((await step(id, 'pay')).body).toMatchObject({
      id,
      status: 'complete',
      paymentStatus: 'paid',
      url: null,
    });
    const session = await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] });
    expect(session).toMatchObject({ status: 'complete', payment_status: 'paid', url: null });
    expect(session.customer_details?.email).toBe('alice@demo.example');
    const intent = session.payment_intent as Stripe.PaymentIntent;
    expect(intent).toMatchObject({
      amount: 500,
      amount_received: 500,
      currency: 'usd',
      status: 'succeeded',
      metadata: { rwt_amount: '5000' },
      latest_charge: { amount: 500, paid: true, status: 'succeeded', payment_intent: intent.id },
    });
    expect(await stripe.paymentIntents.retrieve(intent.id)).toMatchObject({
      id: intent.id,
      status: 'succeeded',
    });
  });

  test('is paid once: a second attempt is refused, and makes no second payment', async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    const answers = await Promise.all([step(id, 'pay'), step(id, 'pay'), step(id, 'pay')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
      error: `The session ${id} is complete: it was paid already`,
      details: { reason: 'processor_refused', code: 'checkout_session_complete' },
    });
    const { payment_intent: intent } = await stripe.checkout.sessions.retrieve(id);
    const charges = await stripe.charges.list({ payment_intent: intent as string });
    expect(charges.data).toHaveLength(1);
  });

  test('stays open after a declined card, and can be paid then', async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    expect((await step(id, 'decline', { code: 'insufficient_funds' })).body.status).toBe('open');
    const { payment_intent: intent } = await stripe.checkout.sessions.retrieve(id);
    expect(await stripe.paymentIntents.retrieve(intent as string)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: {
        code: 'card_declined',
        decline_code: 'insufficient_funds',
        message: 'Your card has insufficient funds.',
      },
    });
    expect((await step(id, 'pay')).body).toMatchObject({ status: 'complete', paymentIntentId: intent });
    const { data } = await stripe.charges.list({ payment_intent: intent as string });
    expect(data.map(({ status }) => status)).toEqual(['succeeded', 'failed']);
  });

  test('costs nothing: no payment is required', async () => {
    const free = { currency: 'usd', unit_amount: 0, product_data: { name: 'Sample' } };
    const { id, payment_status: status } = await stripe.checkout.sessions.create(
      purchase({ line_items: [{ quantity: 1, price_data: free }] }),
    );
    expect(status).toBe('no_payment_required');
    await step(id, 'pay');
    expect(await stripe.checkout.sessions.retrieve(id)).toMatchObject({
      status: 'complete',
      payment_status: 'no_payment_required',
      payment_intent: null,
    });
  });

  test('is ended by the merchant, once', async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    expect(await stripe.checkout.sessions.expire(id)).toMatchObject({ id, status: 'expired', url: null });
    const problem = await stripeProblem(stripe.checkout.sessions.expire(id));
    expect(problem).toMatchObject({ type: 'StripeInvalidRequestError', statusCode: 400 });
    expect(problem.message).toContain('Only Checkout Sessions with a status in ["open"] can be expired');
    expect((await step(id, 'pay')).status).toBe(409);
  });
});

describe('money goes back', () => {
  const paid = async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    const { body } = await step(id, 'pay');
    return { id, intent: body.paymentIntentId as string };
  };

  test('in parts and never more than was paid', async () => {
    const { id, intent } = await paid();
    const refund = await stripe.refunds.create({ payment_intent: intent, amount: 200 });
    expect(refund).toMatchObject({ amount: 200, status: 'succeeded', payment_intent: intent });
    expect(await stripeProblem(stripe.refunds.create({ payment_intent: intent, amount: 301 }))).toMatchObject(
      {
        message: 'Refund amount (301) is greater than unrefunded amount on charge (300)',
      },
    );
    expect((await step(id, 'refund')).body).toMatchObject({ refunded: 500 });
    expect(await stripeProblem(stripe.refunds.create({ payment_intent: intent }))).toMatchObject({
      code: 'charge_already_refunded',
    });
    const { data } = await stripe.refunds.list({ payment_intent: intent });
    expect(data.map(({ amount }) => amount)).toEqual([300, 200]);
    expect((await stripe.charges.list({ payment_intent: intent })).data[0]).toMatchObject({
      amount_refunded: 500,
      refunded: true,
    });
  });

  test('by a dispute, after which nothing is refunded', async () => {
    const { id, intent } = await paid();
    expect((await step(id, 'dispute', { reason: 'product_not_received' })).body.disputed).toBe(true);
    const { data } = await stripe.disputes.list({ payment_intent: intent });
    expect(data).toMatchObject([{ amount: 500, reason: 'product_not_received', status: 'needs_response' }]);
    expect(await stripeProblem(stripe.refunds.create({ payment_intent: intent }))).toMatchObject({
      code: 'charge_disputed',
    });
  });

  test('not before it was paid', async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    expect(await step(id, 'refund')).toMatchObject({
      status: 409,
      body: { error: `The session ${id} has not been paid` },
    });
  });
});

describe('an idempotency key', () => {
  test('gets the first answer again, word for word, however often it is sent at once', async () => {
    const wish = purchase();
    const idempotencyKey = `key-${wish.client_reference_id}`;
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => stripe.checkout.sessions.create(wish, { idempotencyKey })),
    );
    expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
    const replayed = answers.filter(
      ({ lastResponse }) => lastResponse.headers['idempotent-replayed'] === 'true',
    );
    expect(replayed).toHaveLength(4);
  });

  test('belongs to one request', async () => {
    const idempotencyKey = `key-${purchase().client_reference_id}`;
    await stripe.checkout.sessions.create(purchase(), { idempotencyKey });
    const problem = await stripeProblem(stripe.checkout.sessions.create(purchase(), { idempotencyKey }));
    expect(problem).toMatchObject({ type: 'StripeIdempotencyError', statusCode: 400 });
    expect(problem.message).toContain('can only be used with the same parameters');
  });

  test('is free again after a request that was refused', async () => {
    const idempotencyKey = `key-${purchase().client_reference_id}`;
    const wrong = purchase({ success_url: 'nowhere' });
    expect(await stripeProblem(stripe.checkout.sessions.create(wrong, { idempotencyKey }))).toMatchObject({
      code: 'url_invalid',
    });
    expect((await stripe.checkout.sessions.create(purchase(), { idempotencyKey })).status).toBe('open');
  });
});

describe('lists', () => {
  test('go page by page, newest first, and back', async () => {
    const made = [];
    const email = `pages-${process.pid}@demo.example`;
    for (let index = 0; index < 7; index++) {
      const { id } = await stripe.checkout.sessions.create(purchase({ customer_email: email }));
      made.unshift(id);
    }
    const filter = { customer_details: { email } };
    const all = await stripe.checkout.sessions
      .list({ limit: 2, ...filter })
      .autoPagingToArray({ limit: 100 });
    expect(all.map(({ id }) => id)).toEqual(made);
    const first = await stripe.checkout.sessions.list({ limit: 3, ...filter });
    expect(first).toMatchObject({ has_more: true, url: '/v1/checkout/sessions' });
    const back = await stripe.checkout.sessions.list({
      limit: 3,
      ending_before: made[5] as string,
      ...filter,
    });
    expect(back.data.map(({ id }) => id)).toEqual(made.slice(2, 5));
  });

  test('are narrowed by status, time and payment', async () => {
    const from = (await seconds()) + 100;
    await stack.advance('100s');
    const open = await stripe.checkout.sessions.create(purchase());
    const paid = await stripe.checkout.sessions.create(purchase());
    await step(paid.id, 'pay');
    const ids = async (params: Stripe.Checkout.SessionListParams) =>
      (await stripe.checkout.sessions.list({ ...params, created: { gte: from } })).data.map(({ id }) => id);
    expect(await ids({})).toEqual([paid.id, open.id]);
    expect(await ids({ status: 'complete' })).toEqual([paid.id]);
    const { payment_intent: intent } = await stripe.checkout.sessions.retrieve(paid.id);
    expect(await ids({ payment_intent: intent as string })).toEqual([paid.id]);
    const before = await stripe.checkout.sessions.list({ created: { lt: from }, limit: 100 });
    expect(before.data.map(({ id }) => id)).not.toContain(open.id);
    const { data } = await stripe.checkout.sessions.list({
      created: { gte: from },
      expand: ['data.payment_intent.latest_charge'],
    });
    expect(data[0]?.payment_intent).toMatchObject({ latest_charge: { paid: true } });
  });
});

describe('what is wrong is refused as Stripe refuses it', () => {
  const line = (change: object) => ({
    line_items: [
      {
        quantity: 1,
        price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'x' } },
        ...change,
      },
    ],
  });
  const price = (change: object) =>
    line({ price_data: { currency: 'usd', unit_amount: 500, product_data: { name: 'x' }, ...change } });
  const soon = { expires_at: 1_000 };
  test.each<[string, object, { code?: string; param?: string; message?: string }]>([
    ['no lines', { line_items: [] }, { code: 'parameter_missing', param: 'line_items' }],
    [
      'no quantity',
      line({ quantity: undefined }),
      { code: 'parameter_missing', param: 'line_items[0][quantity]' },
    ],
    ['a text for a number', price({ unit_amount: 'many' }), { code: 'parameter_invalid_integer' }],
    ['half a cent', price({ unit_amount: 0.5 }), { code: 'parameter_invalid_integer' }],
    ['less than nothing', price({ unit_amount: -1 }), { code: 'parameter_invalid_integer' }],
    ['too little', price({ unit_amount: 49 }), { code: 'amount_too_small' }],
    ['too much', price({ unit_amount: 100_000_000 }), { code: 'amount_too_large' }],
    [
      'a price that it does not have',
      line({ price_data: undefined, price: 'price_1' }),
      { code: 'resource_missing' },
    ],
    ['a page that is no address', { success_url: 'thanks' }, { code: 'url_invalid', param: 'success_url' }],
    ['a page that is a script', { cancel_url: 'javascript:alert(1)' }, { code: 'url_invalid' }],
    ['no e-mail', { customer_email: 'alice' }, { code: 'email_invalid', param: 'customer_email' }],
    ['an end in the past', soon, { param: 'expires_at' }],
    ['a subscription', { mode: 'subscription' }, { param: 'mode' }],
    [
      'what nobody knows',
      { sucess_url: 'https://x.example' },
      { code: 'parameter_unknown', param: 'sucess_url' },
    ],
    [
      'too many keys',
      { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, 'v'])) },
      { param: 'metadata' },
    ],
    ['a long value', { metadata: { key: 'v'.repeat(501) } }, { param: 'metadata' }],
  ])('%s', async (_, change, expected) => {
    const problem = await stripeProblem(stripe.checkout.sessions.create(purchase(change as object)));
    expect(problem).toMatchObject({ type: 'StripeInvalidRequestError', statusCode: 400, ...expected });
    expect(problem.requestId).toMatch(/^req_/);
  });

  test('an object that is not there', async () => {
    expect(await stripeProblem(stripe.checkout.sessions.retrieve('cs_test_none'))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
      param: 'session',
      message: "No such checkout.session: 'cs_test_none'",
    });
    expect(await stripeProblem(stripe.paymentIntents.retrieve('pi_none'))).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
    });
  });

  test('another key, and none', async () => {
    const { checkout } = stripeOf(stack.ready, 'sk_test_somebody_elses_key');
    const problem = await stripeProblem(checkout.sessions.list());
    expect(problem).toMatchObject({ type: 'StripeAuthenticationError', statusCode: 401 });
    expect(problem.message).not.toContain('somebody_elses');
    const bare = await fetch(`${stack.ready.processor.url}/v1/checkout/sessions`);
    expect(bare.status).toBe(401);
    const basic = Buffer.from(`${stack.ready.processor.secretKey}:`).toString('base64');
    const headers = { authorization: `Basic ${basic}` };
    expect((await fetch(`${stack.ready.processor.url}/v1/events`, { headers })).status).toBe(200);
  });

  test('a path that it does not have', async () => {
    expect(await stripeProblem(stripe.customers.create())).toMatchObject({
      statusCode: 404,
      message: expect.stringContaining('Unrecognized request URL (POST: /v1/customers)'),
    });
  });
});

test('with hosts on ports of their own it is where the control API is, and the service finds it there', async () => {
  const apart = await startTestService({ splitHosts: true });
  try {
    expect(apart.ready.processor.url).toBe(new URL(apart.ready.urls.control).origin);
    expect(apart.ready.processor.url).not.toBe(apart.ready.urls.events);
    const { body } = await apart.post('/rewards-api/create-checkout', {
      brandId: apart.brand.brandId,
      amount: 500,
      userEmail: 'alice@demo.example',
      successUrl: 'https://demo.example/thanks',
      cancelUrl: 'https://demo.example/cart',
    });
    const session = await stripeOf(apart.ready).checkout.sessions.retrieve(body.sessionId);
    expect(session).toMatchObject({
      url: body.checkoutUrl,
      metadata: { usd_amount: '5', rwt_amount: '5000' },
    });
    expect((await fetch(body.checkoutUrl)).status).toBe(200);
  } finally {
    await apart.stop();
  }
});

test('the variables for a program under test lead to it', async () => {
  const env = readyEnvironment(stack.ready);
  const { hostname: host, port } = new URL(env.STRIPE_API_BASE ?? '');
  const theirs = new Stripe(env.STRIPE_SECRET_KEY ?? '', { host, port, protocol: 'http' });
  expect((await theirs.checkout.sessions.list()).object).toBe('list');
  expect(env.STRIPE_WEBHOOK_SECRET).toBe(stack.ready.processor.webhookSecret);
});
