/** What callers meet while the chain's node fails on purpose, and that they are paid once when it is back. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { faultsOf } from '../../kits/service/faults.ts';
import { someone, startTestService, type TestService } from '../../kits/service/service.ts';

let service: TestService;
let faults: ReturnType<typeof faultsOf>;
beforeAll(async () => {
  service = await startTestService();
  faults = faultsOf(service);
});
afterAll(() => service.stop());
afterEach(() => faults.clear());

test('the answer to a transaction is lost: the event is answered as ever, and paid once', async () => {
  const user = someone();
  await faults.fail('node=answer-lost', { times: 1 });
  const { status, body } = await service.event({ userEmail: user });
  expect([status, body.status]).toEqual([200, 'rewarded']);
  expect(await faults.list()).toEqual([]);
  await faults.paidOnce(user, body.rewardAmount);
});

// Each on a service of its own, all at once: they wait for as long as a caller does before it is told.
test.concurrent.each(['node=away', 'node=base-fee:120gwei', 'node=refused'])(
  '%s: the event is recorded and answered with payout_pending, and paid once when it is over',
  async (named) => {
    const own = await startTestService();
    try {
      await isPaidAfter(own, named);
    } finally {
      await own.stop();
    }
  },
  120_000,
);

test.each(['node=slow:200ms', 'node=fee-cap'])(
  '%s: the event is answered later, and paid once',
  async (named) => {
    const user = someone();
    await faults.fail(named, { times: 2 });
    const { status, body } = await service.event({ userEmail: user });
    expect([status, body.status]).toEqual([200, 'rewarded']);
    await faults.paidOnce(user, body.rewardAmount);
  },
);

async function isPaidAfter(own: TestService, named: string): Promise<void> {
  const ownFaults = faultsOf(own);
  const user = someone();
  await ownFaults.fail(named);
  const { status, body } = await own.event({ userEmail: user });
  expect([status, body.error, body.details.reason]).toEqual([
    500,
    'Blockchain transaction delayed',
    'payout_pending',
  ]);
  const [{ struck } = { struck: 0 }] = await ownFaults.list();
  expect(struck).toBeGreaterThan(1);
  expect((await own.event({ userEmail: user })).status).toBe(409);
  await ownFaults.clear();
  await ownFaults.paidOnce(user, 100);
}
