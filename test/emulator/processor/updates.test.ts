/** What the official package of Stripe can change of what the emulated processor has, and how its lines and products are shown. */
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  stack.control(`/processor/sessions/${session}/${verb}`, { webhook: false, ...wish });

async function paid() {
  const { id } = await stripe.checkout.sessions.create(purchase());
  await step(id, 'pay');
  const { payment_intent: intent } = await stripe.checkout.sessions.retrieve(id);
  return { id, intent: String(intent) };
}

async function disputed() {
  const { id, intent } = await paid();
  await step(id, 'dispute', { reason: 'product_not_received' });
  const [dispute] = (await stripe.disputes.list({ payment_intent: intent })).data;
  if (!dispute) throw new Error('there is no dispute');
  return dispute;
}

describe('metadata', () => {
  test('of a session are added, changed and removed, key by key or all at once', async () => {
    const { id, metadata } = await stripe.checkout.sessions.create(purchase());
    const changed = await stripe.checkout.sessions.update(id, {
      metadata: { order: '17', usd_amount: '6', wallet: '' },
    });
    expect(changed.metadata).toEqual({ order: '17', usd_amount: '6', rwt_amount: metadata?.rwt_amount });
    expect((await stripe.checkout.sessions.retrieve(id)).metadata).toEqual(changed.metadata);
    expect((await stripe.checkout.sessions.update(id, { metadata: '' })).metadata).toEqual({});
    const nothing = await stripe.checkout.sessions.update(id);
    expect([nothing.id, nothing.metadata, nothing.status]).toEqual([id, {}, 'open']);
  });

  test('what else could be changed of a session is named, and refused', async () => {
    const { id } = await stripe.checkout.sessions.create(purchase());
    const problem = await stripeProblem(stripe.checkout.sessions.update(id, { shipping_options: '' }));
    expect(problem).toMatchObject({ code: 'parameter_unknown', param: 'shipping_options' });
    expect(await stripeProblem(stripe.checkout.sessions.update('cs_test_none', {}))).toMatchObject({
      code: 'resource_missing',
      statusCode: 404,
    });
  });

  test('of a payment are changed with its description and the e-mail of its receipt', async () => {
    const { intent } = await paid();
    const changed = await stripe.paymentIntents.update(intent, {
      description: 'Order 17',
      receipt_email: 'bob@demo.example',
      metadata: { order: '17' },
      expand: ['latest_charge'],
    });
    expect(changed).toMatchObject({
      description: 'Order 17',
      receipt_email: 'bob@demo.example',
      metadata: { order: '17', rwt_amount: '5000' },
      status: 'succeeded',
      latest_charge: { object: 'charge', paid: true },
    });
    const unset = await stripe.paymentIntents.update(intent, { description: '', receipt_email: '' });
    expect([unset.description, unset.receipt_email]).toEqual([null, null]);
    const amount = await stripeProblem(stripe.paymentIntents.update(intent, { amount: 1 }));
    expect(amount).toMatchObject({ code: 'parameter_unknown', param: 'amount' });
  });
});

test('a webhook endpoint gets another URL and other types, is turned off, and on again', async () => {
  const made = await stripe.webhookEndpoints.create({
    url: 'http://127.0.0.1:9/a',
    enabled_events: ['charge.refunded'],
  });
  const changed = await stripe.webhookEndpoints.update(made.id, {
    url: 'http://127.0.0.1:9/b',
    enabled_events: ['checkout.session.completed', 'charge.dispute.closed'],
    description: 'Orders',
    metadata: { team: 'shop' },
    disabled: true,
  });
  expect(changed).toMatchObject({
    url: 'http://127.0.0.1:9/b',
    enabled_events: ['checkout.session.completed', 'charge.dispute.closed'],
    description: 'Orders',
    metadata: { team: 'shop' },
    status: 'disabled',
  });
  expect(changed.secret).toBeUndefined();
  await paid();
  const [event] = (await stripe.events.list({ type: 'checkout.session.completed', limit: 1 })).data;
  expect(event?.pending_webhooks).toBe(0);
  expect((await stripe.webhookEndpoints.update(made.id, { disabled: false })).status).toBe('enabled');
  const unknown = await stripeProblem(
    stripe.webhookEndpoints.update(made.id, { enabled_events: ['invoice.paid'] }),
  );
  expect(unknown).toMatchObject({ param: 'enabled_events' });
  expect((await stripe.webhookEndpoints.retrieve(made.id)).enabled_events).toEqual(changed.enabled_events);
  await stripe.webhookEndpoints.del(made.id);
});

describe('a dispute', () => {
  test('gets evidence, which is kept or goes to the bank', async () => {
    const { id } = await disputed();
    const kept = await stripe.disputes.update(id, {
      evidence: { product_description: '5,000 RWT', shipping_carrier: 'none' },
      metadata: { ticket: '9' },
      submit: false,
    });
    expect(kept).toMatchObject({
      status: 'needs_response',
      metadata: { ticket: '9' },
      evidence: { product_description: '5,000 RWT', shipping_carrier: 'none' },
      evidence_details: { has_evidence: true, submission_count: 0 },
    });
    const sent = await stripe.disputes.update(id, { evidence: { shipping_carrier: '' } });
    expect(sent).toMatchObject({
      status: 'under_review',
      evidence: { product_description: '5,000 RWT', shipping_carrier: null },
      evidence_details: { has_evidence: true, submission_count: 1 },
    });
    const [told] = (await stripe.events.list({ type: 'charge.dispute.updated', limit: 1 })).data;
    expect(told?.data.object).toMatchObject({ id, status: 'under_review' });
  });

  test('is closed once, and lost', async () => {
    const { id } = await disputed();
    expect((await stripe.disputes.close(id)).status).toBe('lost');
    const [told] = (await stripe.events.list({ type: 'charge.dispute.closed', limit: 1 })).data;
    expect(told?.data.object).toMatchObject({ id, status: 'lost' });
    for (const call of [stripe.disputes.close(id), stripe.disputes.update(id, { metadata: {} })])
      expect((await stripeProblem(call)).message).toContain('already closed');
  });
});

describe('lines', () => {
  const product_data = { name: 'Pen', description: 'Blue', images: ['https://demo.example/pen.png'] };
  const price_data = {
    currency: 'usd',
    unit_amount: 150,
    product_data: { ...product_data, metadata: { sku: '7' } },
  };
  const pen = {
    object: 'product',
    name: 'Pen',
    description: 'Blue',
    images: ['https://demo.example/pen.png'],
    metadata: { sku: '7' },
    active: false,
  };
  const productIn = (lines: Stripe.LineItem[] | undefined) => lines?.[0]?.price?.product;

  test('show their products where those are asked for', async () => {
    const expand = ['line_items.data.price.product'];
    const wish = purchase({ line_items: [{ quantity: 2, price_data }] });
    const made = await stripe.checkout.sessions.create({ ...wish, expand });
    expect(productIn(made.line_items?.data)).toMatchObject(pen);
    const found = await stripe.checkout.sessions.retrieve(made.id, { expand });
    expect(found.line_items).toEqual(made.line_items);
    const listed = await stripe.checkout.sessions.listLineItems(made.id, { expand: ['data.price.product'] });
    expect(listed.data).toEqual(made.line_items?.data);
    const plain = await stripe.checkout.sessions.listLineItems(made.id);
    expect(productIn(plain.data)).toBe((productIn(listed.data) as Stripe.Product).id);
    const wrong = stripe.checkout.sessions.retrieve(made.id, { expand: ['line_items.data.price.currency'] });
    expect((await stripeProblem(wrong)).message).toContain('cannot be expanded');
  });

  test('cost parts of a cent, which are rounded for each line', async () => {
    const decimal = (text: string) => Stripe.Decimal.from(text);
    const line = (unit: string, quantity: number) => ({
      quantity,
      price_data: { currency: 'usd', unit_amount_decimal: decimal(unit), product_data: { name: unit } },
    });
    const { id, amount_total: total } = await stripe.checkout.sessions.create(
      purchase({ line_items: [line('12.5', 3), line('0.001', 499), line('100', 1)] }),
    );
    expect(total).toBe(38 + 0 + 100);
    const { data } = await stripe.checkout.sessions.listLineItems(id);
    expect(
      data.map(({ amount_total, price }) => [
        amount_total,
        price?.unit_amount,
        String(price?.unit_amount_decimal),
      ]),
    ).toEqual([
      [38, null, '12.5'],
      [0, null, '0.001'],
      [100, 100, '100'],
    ]);
    const both = { ...price_data, unit_amount_decimal: decimal('150') };
    expect(
      await stripeProblem(
        stripe.checkout.sessions.create(purchase({ line_items: [{ quantity: 1, price_data: both }] })),
      ),
    ).toMatchObject({ param: 'line_items[0][price_data][unit_amount_decimal]' });
    for (const text of ['-1', '1.', '1e3', '1.0000000000001']) {
      const body = { ...price_data, unit_amount: undefined, unit_amount_decimal: text as never };
      const refused = stripe.checkout.sessions.create(
        purchase({ line_items: [{ quantity: 1, price_data: body }] }),
      );
      expect((await stripeProblem(refused)).code, text).toBe('parameter_invalid_decimal');
    }
  });

  test('have no taxes: they may be switched off, not on', async () => {
    const { automatic_tax: tax } = await stripe.checkout.sessions.create(
      purchase({ automatic_tax: { enabled: false } }),
    );
    expect(tax).toMatchObject({ enabled: false, status: null });
    const problem = await stripeProblem(
      stripe.checkout.sessions.create(purchase({ automatic_tax: { enabled: true } })),
    );
    expect(problem).toMatchObject({ param: 'automatic_tax[enabled]' });
  });
});
