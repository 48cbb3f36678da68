/** Contract: Events. The processor's events at payment-mint: once each, in any order, and only as they were signed. */
import { describe, expect, test } from 'vitest';
import { shop } from '../kit.ts';
import { onPayments, type PaymentService } from './kit.ts';

const COMPLETED = 'checkout.session.completed';
const minted = { status: 200, body: { success: true, rwtAmount: 25_000 } };
const again = { status: 200, body: { success: true, alreadyProcessed: true } };
const refused = (reason: string) => ({
  status: 400,
  body: { success: false, error: 'Event refused', details: { reason } },
});

onPayments('processor events', (get) => {
  test('the processor tells of a payment by itself, and its event mints', async () => {
    const service = get();
    const before = await service.balanceOf(shop.brandId);
    const sessionId = await service.openSession();
    await service.pay(sessionId, { webhook: true });
    await expect.poll(() => service.mintsOnChain(sessionId)).toBe(1);
    expect(await service.mint(sessionId)).toMatchObject(again);
    expect(await service.balanceOf(shop.brandId)).toBe(before + 25_000n);
  });

  test('delivered three times, at once and one after the other: one mint', async () => {
    const service = get();
    const sessionId = await service.paidSession();
    const text = await service.eventText(COMPLETED, sessionId);
    const answers = await Promise.all([1, 2, 3].map(() => service.deliver(text)));
    answers.push(await service.deliver(text));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: { success: true } });
    const first = answers.filter(({ body }) => body.alreadyProcessed === undefined);
    expect(first).toMatchObject([minted]);
    expect(await service.mintsOnChain(sessionId)).toBe(1);
  });

  test('in the reverse order: every event of a session, a refund first, ends in one state', async () => {
    const service = get();
    const sessionId = await service.paidSession();
    const completed = await service.eventText(COMPLETED, sessionId);
    const succeeded = await service.eventText('payment_intent.succeeded', sessionId);
    const expired = JSON.stringify({
      ...JSON.parse(completed),
      id: `evt_late_${sessionId}`,
      type: 'checkout.session.expired',
    });
    for (const text of [expired, succeeded, completed, expired])
      expect(await service.deliver(text)).toMatchObject({ status: 200, body: { success: true } });
    expect(await service.mintsOnChain(sessionId)).toBe(1);
  });

  test('before the payment has arrived nothing is minted, and the processor need not come again', async () => {
    const service = get();
    const sessionId = await service.openSession();
    await service.pay(sessionId, { later: true, delay: '1h' });
    const text = await service.eventText(COMPLETED, sessionId);
    const receipt = { success: false, received: true, message: 'Payment not completed: unpaid' };
    expect(await service.deliver(text)).toMatchObject({ status: 200, body: receipt });
    expect(await service.mintsOnChain(sessionId)).toBe(0);
  });

  describe('are refused', () => {
    const prepared = async (service: PaymentService) => {
      const sessionId = await service.paidSession();
      return { sessionId, text: await service.eventText(COMPLETED, sessionId) };
    };

    test.each([
      ['stale', 301, 'timestamp_too_old'],
      ['a day old', 86_400, 'timestamp_too_old'],
      ['from the future', -301, 'timestamp_in_future'],
      ['from the next year', -31_536_000, 'timestamp_in_future'],
    ])('%s', async (_what, ageSeconds, reason) => {
      const service = get();
      const { sessionId, text } = await prepared(service);
      for (let time = 0; time < 3; time += 1)
        expect(await service.deliver(text, { ageSeconds })).toMatchObject(refused(reason));
      expect(await service.mintsOnChain(sessionId)).toBe(0);
    });

    test.each([300, -300])('not those that are %i s old', async (ageSeconds) => {
      const service = get();
      const { text } = await prepared(service);
      expect(await service.deliver(text, { ageSeconds })).toMatchObject(minted);
    });

    test('with another secret, or without a signature', async () => {
      const service = get();
      const { sessionId, text } = await prepared(service);
      expect(await service.deliver(text, { secret: 'whsec_another' })).toMatchObject(
        refused('signature_wrong'),
      );
      expect(await service.deliver(text, { signature: 'nonsense' })).toMatchObject(
        refused('signature_malformed'),
      );
      expect(await service.mintsOnChain(sessionId)).toBe(0);
    });

    test('with another body than the signed one, were it equal to every reader of JSON', async () => {
      const service = get();
      const { sessionId, text } = await prepared(service);
      const other = await service.paidSession();
      const bodies = [
        text.replaceAll(sessionId, other),
        `${text} `,
        `\ufeff${text}`,
        JSON.stringify(JSON.parse(text), null, 2),
        text.replace('"livemode":false', '"livemode":false,"more":1'),
        '',
      ];
      for (const body of bodies)
        expect(await service.deliver(body, { signedText: text })).toMatchObject(refused('signature_wrong'));
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 97) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ 4;
        expect((await service.deliver(flipped, { signedText: text })).status, `byte ${at}`).toBe(400);
      }
      expect(await service.mintsOnChain(sessionId)).toBe(0);
      expect(await service.mintsOnChain(other)).toBe(0);
      expect(await service.deliver(text)).toMatchObject(minted);
    });

    test('of live mode', async () => {
      const service = get();
      const { sessionId, text } = await prepared(service);
      const live = JSON.stringify({ ...JSON.parse(text), livemode: true });
      expect(await service.deliver(live)).toMatchObject(refused('livemode_wrong'));
      expect(await service.mintsOnChain(sessionId)).toBe(0);
    });

    test('longer than any event, and compressed', async () => {
      const service = get();
      const { text } = await prepared(service);
      expect((await service.deliver(`${text}${' '.repeat(70_000)}`)).status).toBe(413);
      // More than other bodies may have is taken.
      expect(await service.deliver(`${text}${' '.repeat(20_000)}`)).toMatchObject(minted);
    });
  });

  test('of sessions that are not ours, and of other types, are received and do nothing', async () => {
    const service = get();
    const text = await service.eventText(COMPLETED, await service.paidSession());
    const of = (change: object) => JSON.stringify({ ...JSON.parse(text), ...change });
    const foreign = of({ id: 'evt_foreign', data: { object: { id: 'cs_test_foreign' } } });
    expect(await service.deliver(foreign)).toMatchObject({
      status: 200,
      body: { success: false, received: true, message: 'Session not found' },
    });
    const other = of({ id: 'evt_other', type: 'customer.created', data: { object: { id: 'cus_1' } } });
    expect(await service.deliver(other)).toMatchObject({
      status: 200,
      body: { success: true, received: true },
    });
  });

  test('while the processor is away an event is answered with 500, so that it comes again', async () => {
    const service = get();
    const sessionId = await service.paidSession();
    const text = await service.eventText(COMPLETED, sessionId);
    service.proxy.fail(() => 'lost-request');
    expect((await service.deliver(text)).status).toBe(500);
    service.proxy.fail(undefined);
    expect(await service.deliver(text)).toMatchObject(minted);
  });

  describe('refunds and disputes', () => {
    test.each([
      ['refund', {}, 'refunded'],
      ['refund', { amount: 1 }, 'refunded'],
      ['dispute', {}, 'disputed'],
    ])('a %s before the mint prevents it, whether its event came or not: %j', async (verb, wish, status) => {
      const service = get();
      const type = verb === 'refund' ? 'charge.refunded' : 'charge.dispute.created';
      const sessionId = await service.paidSession();
      await service.step(sessionId, verb, wish);
      const message = `Payment not completed: ${status}`;
      expect(await service.mint(sessionId)).toMatchObject({ status: 400, body: { message } });
      expect(await service.deliver(await service.eventText(type, sessionId))).toMatchObject({
        status: 200,
        body: { success: true, received: true },
      });
      const completed = await service.eventText(COMPLETED, sessionId);
      expect(await service.deliver(completed)).toMatchObject({ body: { success: false, message } });
      expect(await service.mintsOnChain(sessionId)).toBe(0);
    });

    test.each([
      ['refund', 'charge.refunded', 'Refund'],
      ['dispute', 'charge.dispute.created', 'Dispute'],
    ])('a %s after the mint is recorded once, and nothing is minted again', async (verb, type, name) => {
      const service = get();
      const sessionId = await service.paidSession();
      // Its one look at what the processor tells by itself must not find what this test is about to deliver.
      await expect.poll(() => service.proxy.calls.map(({ path }) => path)).toContain('/v1/events');
      expect(await service.mint(sessionId)).toMatchObject(minted);
      await service.step(sessionId, verb);
      const text = await service.eventText(type, sessionId);
      const told = [];
      for (let time = 0; time < 3; time += 1) told.push((await service.deliver(text)).body.message);
      expect(told).toEqual([`${name} recorded`, `${name} recorded already`, `${name} recorded already`]);
      expect(await service.mint(sessionId)).toMatchObject(again);
      expect(await service.mintsOnChain(sessionId)).toBe(1);
    });
  });
});
