/** What buyers meet while the payment processor or its events fail on purpose, and that a paid session is minted once. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type PaymentService, startPaymentService } from '../../contract/payments/kit.ts';
import { until } from '../../kits/service/clock.ts';
import { faultsOf } from '../../kits/service/faults.ts';

let service: PaymentService;
let faults: ReturnType<typeof faultsOf>;
beforeAll(async () => {
  // Without the proxy of the kit, whose own connections would break.
  service = await startPaymentService({ processorAt: (origin) => origin });
  faults = faultsOf(service);
});
afterAll(() => service.stop());
afterEach(() => faults.clear());

const sessionsOf = async (userEmail: string) =>
  (await service.request(`${service.ready.urls.control}/processor/sessions?limit=100`)).body.sessions.filter(
    (session: { userEmail?: string; email?: string; customerEmail?: string }) =>
      [session.userEmail, session.email, session.customerEmail].includes(userEmail),
  );

/** It is minted, once, and stays so when it is asked for again. */
async function mintedOnce(sessionId: string) {
  await until(`${sessionId} is minted`, async () => (await service.mintsOnChain(sessionId)) > 0);
  expect((await service.mint(sessionId)).status).toBe(200);
  expect(await service.mintsOnChain(sessionId)).toBe(1);
  await faults.agree();
}

describe("the processor's API", () => {
  test.each(['away', '500', 'answer-lost'])(
    '%s once: the request is repeated, and there is one session',
    async (effect) => {
      const userEmail = `${effect}@buyers.example`;
      await faults.fail(`processor=${effect}`, { times: 1 });
      const { status, body } = await service.checkout({ userEmail });
      expect(status).toBe(200);
      expect(await sessionsOf(userEmail)).toHaveLength(1);
      await service.pay(body.sessionId);
      expect((await service.mint(body.sessionId)).status).toBe(200);
      await mintedOnce(body.sessionId);
    },
  );

  test('away for long: no session is created, a paid one is not minted, and both work afterwards', async () => {
    const paid = await service.paidSession();
    await faults.fail('processor=away');
    const refused = await service.checkout();
    expect([refused.status, refused.body.details.reason]).toEqual([500, 'processor_unavailable']);
    expect((await service.mint(paid)).body.details.reason).toBe('processor_unavailable');
    await faults.clear();
    expect((await service.checkout()).status).toBe(200);
    expect((await service.mint(paid)).status).toBe(200);
    await mintedOnce(paid);
  });

  test('slow: the buyer waits longer', async () => {
    await faults.fail('processor=slow:300ms', { times: 2 });
    expect((await service.checkout()).status).toBe(200);
  });
});

describe("the processor's events", () => {
  const payTold = (sessionId: string) => service.pay(sessionId, { webhook: true });

  test('drop: the session is minted all the same, when it is looked at', async () => {
    const sessionId = await service.openSession();
    await faults.fail('processor-events=drop');
    await payTold(sessionId);
    await until('the events are lost', async () => ((await faults.list())[0]?.struck ?? 0) > 0);
    expect(await service.mintsOnChain(sessionId)).toBe(0);
    await service.advance('10m');
    await mintedOnce(sessionId);
  });

  test('twice: minted once', async () => {
    const sessionId = await service.openSession();
    await faults.fail('processor-events=twice');
    await payTold(sessionId);
    await mintedOnce(sessionId);
  });

  test('delay: minted once, however late the event comes', async () => {
    const sessionId = await service.openSession();
    await faults.fail('processor-events=delay:30m');
    await payTold(sessionId);
    await until('the events are on their way', async () => ((await faults.list())[0]?.struck ?? 0) > 0);
    expect(await service.mintsOnChain(sessionId)).toBe(0);
    await service.advance('31m');
    await mintedOnce(sessionId);
  });

  test('reorder: an event that is overtaken by the next one counts as well', async () => {
    const [first, second] = [await service.openSession(), await service.openSession()];
    await faults.fail('processor-events=reorder', { times: 1 });
    await payTold(first);
    await until('the event is held', async () => (await faults.list()).length === 0);
    await payTold(second);
    for (const sessionId of [second, first]) await mintedOnce(sessionId);
  });
});
