/** Contract: POST payment-mint, States and transitions (payment session), and every failure message. */
import { expect, test } from 'vitest';
import { checksummed } from '../../../src/identity/checksum.ts';
import { API, expectBothForms, open, shop } from '../kit.ts';
import { onPayments } from './kit.ts';

const failure = (message: string) => ({ status: 400, body: { success: false, message } });

onPayments('payment-mint', (get) => {
  test('States: unpaid, mint call → unchanged, Payment not completed: <status>', async () => {
    const service = get();
    const sessionId = await service.openSession();
    const answer = await service.mint(sessionId);
    expect(answer).toMatchObject(failure('Payment not completed: unpaid'));
    expectBothForms(answer);
    expect((await service.session(sessionId)).status).toBe('open');
    expect(await service.mintsOnChain(sessionId)).toBe(0);
  });

  test('States: paid, mint call → minted; minted, mint call → alreadyProcessed, and no second mint', async () => {
    const service = get();
    const before = await service.balanceOf(shop.brandId);
    const sessionId = await service.paidSession({ amount: 2_550 });
    const { paymentIntentId } = await service.session(sessionId);
    const first = await service.mint(sessionId);
    expect(first.status).toBe(200);
    const fields = {
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      blockExplorer: `https://explorer.rewards.localhost/tx/${first.body.txHash}`,
      walletAddress: checksummed(shop.brandId),
      usdAmount: 25.5,
      rwtAmount: 25_500,
      paymentIntentId,
    };
    expect(first.body).toEqual({ success: true, message: 'Payment processed: 25500 RWT minted', ...fields });
    expect(await service.balanceOf(shop.brandId)).toBe(before + 25_500n);
    for (let time = 0; time < 3; time += 1) {
      const again = await service.mint(sessionId);
      expect(again.status).toBe(200);
      expect(again.body).toEqual({
        success: true,
        alreadyProcessed: true,
        message: 'Payment already processed',
        ...fields,
        txHash: first.body.txHash,
      });
    }
    expect(await service.mintsOnChain(sessionId)).toBe(1);
    expect(await service.balanceOf(shop.brandId)).toBe(before + 25_500n);
  });

  test('the RWT goes into the escrow of a brand that wants it there', async () => {
    const service = get();
    await service.set(open, { mintTo: 'escrow' });
    const before = await service.escrowOf(open.brandId);
    const sessionId = await service.paidSession(service.checkoutBody(open));
    // What was planned counts, whatever the brand wants by now.
    await service.set(open, { mintTo: 'wallet' });
    expect(await service.mint(sessionId)).toMatchObject({ status: 200, body: { rwtAmount: 25_000 } });
    expect(await service.escrowOf(open.brandId)).toBe(before + 25_000n);
    expect(await service.balanceOf(open.brandId)).toBe(0n);
  });

  test('a payment that arrives later is unpaid until then', async () => {
    const service = get();
    const sessionId = await service.openSession();
    await service.pay(sessionId, { later: true, delay: '2h' });
    expect(await service.mint(sessionId)).toMatchObject(failure('Payment not completed: unpaid'));
    await service.advance('2h');
    await expect
      .poll(async () => (await service.mint(sessionId)).body)
      .toMatchObject({ success: true, rwtAmount: 25_000 });
    expect(await service.mintsOnChain(sessionId)).toBe(1);
  });

  test('a session that has expired, or whose payment failed, is not completed', async () => {
    const service = get();
    const sessionId = await service.openSession();
    await service.step(sessionId, 'decline');
    expect(await service.mint(sessionId)).toMatchObject(failure('Payment not completed: unpaid'));
    await service.step(sessionId, 'expire');
    expect(await service.mint(sessionId)).toMatchObject(failure('Payment not completed: unpaid'));
    expect(await service.mintsOnChain(sessionId)).toBe(0);
  });

  test.each([
    'cs_test_nobody',
    'cs_live_nobody',
    '',
    ' ',
    'cs/../../v1/events',
    'cs_test?expand[]=x',
    'cs_test_\u0000',
    'x'.repeat(256),
    'ｃs_test_1',
  ])('the invalid session id %j: Session not found', async (sessionId) => {
    const service = get();
    // The service looks after the sessions of other tests by itself; their ids are longer.
    const asked = () => service.asked().filter(({ path }) => !/\/cs_test_a1\w{30,}$/.test(path)).length;
    const before = asked();
    const answer = await service.mint(sessionId);
    expect(answer).toMatchObject(failure('Session not found'));
    expectBothForms(answer);
    expect(asked()).toBe(before);
  });

  test('a session that the ledger has not planned mints nothing, although it is paid', async () => {
    const service = get();
    const key = `Basic ${Buffer.from(`${service.ready.processor.secretKey}:`).toString('base64')}`;
    const fields = {
      mode: 'payment',
      success_url: 'https://shop.example/',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '2500',
      'line_items[0][price_data][product_data][name]': 'RWT',
      'metadata[wallet]': shop.brandId,
      'metadata[usd_amount]': '25',
      'metadata[rwt_amount]': '25000',
    };
    const made = await fetch(`${service.ready.processor.url}/v1/checkout/sessions`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { authorization: key },
    });
    const { id } = (await made.json()) as { id: string };
    expect((await service.pay(id)).status).toBe(200);
    expect(await service.mint(id)).toMatchObject(failure('Session not found'));
    expect(await service.mintsOnChain(id)).toBe(0);
  });

  test.each([
    [{}, /^sessionId: is required/],
    [{ sessionId: null }, /^sessionId: is required/],
    [{ sessionId: 5 }, /^sessionId: must be the id/],
    [{ sessionId: ['cs_test_1'] }, /^sessionId: must be the id/],
    [[], /^body: must be a JSON object/],
  ])('a body without the id of a session is told so: %j', async (body, error) => {
    const answer = await get().post(`${API}/payment-mint`, body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.errors).toEqual([expect.stringMatching(error)]);
  });

  test('while the processor is away the answer is 500, and a later try mints', async () => {
    const service = get();
    const sessionId = await service.paidSession();
    service.proxy.fail(() => 503);
    const answer = await service.mint(sessionId);
    expect(answer).toMatchObject({ status: 500, body: { details: { reason: 'processor_unavailable' } } });
    expect(answer.headers.get('retry-after')).toBe('2');
    let limits = 2;
    service.proxy.fail(() => (limits-- > 0 ? 429 : undefined));
    expect(await service.mint(sessionId)).toMatchObject({ status: 200, body: { rwtAmount: 25_000 } });
    // What is minted is known without the processor.
    service.proxy.fail(() => 503);
    expect(await service.mint(sessionId)).toMatchObject({ status: 200, body: { alreadyProcessed: true } });
  });
});
