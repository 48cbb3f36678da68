/** What no event told is found all the same: paid sessions, sessions that were never noted, refunds and disputes. */
import { expect, test } from 'vitest';
import { onPayments } from './kit.ts';

onPayments('the reconciler', (get) => {
  test('asks the processor nothing before the first checkout', async () => {
    const service = get();
    await service.advance('1h');
    expect(service.proxy.calls).toEqual([]);
    const sessionId = await service.openSession();
    // Where a session expires, a move of the clock stops, and a round may look: none is left open for the tests to come.
    await service.step(sessionId, 'expire');
  });

  test('finds every paid session whose event was lost, within one round', async () => {
    const service = get();
    const sessions: string[] = [];
    for (let count = 0; count < 5; count += 1) sessions.push(await service.paidSession());
    const unpaid = await service.openSession();
    await service.advance('5m');
    for (const sessionId of sessions) await expect.poll(() => service.mintsOnChain(sessionId)).toBe(1);
    expect(await service.mintsOnChain(unpaid)).toBe(0);
    for (const sessionId of sessions)
      expect(await service.mint(sessionId)).toMatchObject({ body: { alreadyProcessed: true } });
    // One that is paid later is found by a later round.
    await service.pay(unpaid);
    await service.advance('5m');
    await expect.poll(() => service.mintsOnChain(unpaid)).toBe(1);
  });

  test('ties a session to its checkout when the answer to its creation was lost', async () => {
    const service = get();
    service.proxy.fail(({ method }) => (method === 'POST' ? 'lost-answer' : undefined));
    expect((await service.checkout()).status).toBe(500);
    service.proxy.fail(undefined);
    const checkoutId = service.newestCheckout()?.fields.client_reference_id ?? '';
    const { id } = await service.session(checkoutId);
    await service.pay(id);
    await service.advance('5m');
    await expect.poll(() => service.mintsOnChain(id)).toBe(1);
  });

  test('a call for a session that was never noted finds it too', async () => {
    const service = get();
    service.proxy.fail(({ method }) => (method === 'POST' ? 'lost-answer' : undefined));
    expect((await service.checkout()).status).toBe(500);
    service.proxy.fail(undefined);
    const checkoutId = service.newestCheckout()?.fields.client_reference_id ?? '';
    const { id } = await service.session(checkoutId);
    await service.pay(id);
    expect(await service.mint(id)).toMatchObject({ status: 200, body: { rwtAmount: 25_000 } });
    expect(await service.mint('cs_test_nobody')).toMatchObject({ status: 400 });
  });

  test('waits out an outage of the processor, and loses nothing', async () => {
    const service = get();
    const sessionId = await service.paidSession();
    const about = () => service.proxy.calls.filter(({ path }) => path.endsWith(sessionId)).length;
    const before = about();
    service.proxy.fail(() => 503);
    await service.advance('3m');
    // One look asks three times.
    await expect.poll(about).toBe(before + 3);
    await service.advance('3m');
    await expect.poll(about).toBeGreaterThan(before + 3);
    expect(await service.mintsOnChain(sessionId)).toBe(0);
    service.proxy.fail(undefined);
    await service.advance('10m');
    await expect.poll(() => service.mintsOnChain(sessionId)).toBe(1);
  });

  test('records refunds of minted payments whose event was lost', async () => {
    const service = get();
    const sessionId = await service.paidSession();
    await service.mint(sessionId);
    await service.step(sessionId, 'refund');
    const text = await service.eventText('charge.refunded', sessionId);
    await service.advance('2m');
    await expect
      .poll(() => service.warnings)
      .toContainEqual(expect.objectContaining({ session: sessionId, refundedCents: 2_500 }));
    expect((await service.deliver(text)).body.message).toBe('Refund recorded already');
  });

  test('an expired session is not asked about for ever', async () => {
    const service = get();
    const sessionId = await service.openSession();
    const about = () => service.proxy.calls.filter(({ path }) => path.endsWith(sessionId)).length;
    // No event tells of it, so that whoever asks is the reconciler.
    await service.step(sessionId, 'expire');
    await service.advance('5m');
    await expect.poll(about).toBe(1);
    const later = await service.paidSession();
    await service.advance('2h');
    await expect.poll(() => service.mintsOnChain(later)).toBe(1);
    expect(about()).toBe(1);
  });

  test('looks at an open session ever more rarely, every hour once its page has closed, and after two weeks no more', async () => {
    const service = get();
    const sessionId = await service.openSession();
    const about = () => service.proxy.calls.filter(({ path }) => path.endsWith(sessionId)).length;
    /** Time passes, and all that was due by then has been looked at: a session that is due later than it, too. */
    const after = async (time: string) => {
      const marker = await service.paidSession();
      await service.advance(time);
      const isAsked = () => service.proxy.calls.some(({ path }) => path.endsWith(marker));
      await service.advance('3m');
      await expect.poll(isAsked).toBe(true);
      await expect.poll(() => service.mintsOnChain(marker)).toBe(1);
      return about();
    };
    expect(await after('2m')).toBeGreaterThanOrEqual(1);
    // A bank's transfer: the page is done, the money comes in three weeks.
    await service.pay(sessionId, { later: true, delay: '21d' });
    const closed = await after('25h');
    expect(await after('40m')).toBe(closed);
    expect(await after('20m')).toBe(closed + 1);
    // The clock stops on its way where something falls due; a look is made there or not, as it comes.
    const late = await after('15d');
    expect(late).toBeGreaterThan(closed + 1);
    expect(await after('3h')).toBe(late);
    expect(await service.mint(sessionId)).toMatchObject({ status: 400 });
  });
});
