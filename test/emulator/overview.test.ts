/** What happens now, in one answer, and what falls due next: over the control API and the command line. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewardsJson } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const overview = async () => (await service.request(`${service.ready.urls.control}/overview`)).body;

test('it counts requests, decisions and rewards, and knows lanes and budgets', async () => {
  const before = await overview();
  const user = someone();
  await service.event({ userEmail: user });
  await service.event({ userEmail: user });
  const after = await overview();
  expect(after.log.requests).toBe(before.log.requests + 2);
  expect(after.log.refused).toBe(before.log.refused + 1);
  expect(after.log.decisions.rewarded).toBe((before.log.decisions.rewarded ?? 0) + 1);
  expect(after.totals.rewards).toBe(before.totals.rewards + 1);
  expect(after.totals.rwtRewarded).toBeGreaterThan(before.totals.rwtRewarded);
  expect(after.lanes.map(({ purpose }: { purpose: string }) => purpose)).toContain('payout');
  const [brand] = after.brands;
  expect(brand.available).toBe(brand.deposited - brand.promised);
  expect(after.alarms).toEqual([]);
  expect(after.waiting.mints).toEqual({ count: 0, oldestMs: null });
});

test('what falls due is listed with the earliest first, and the clock goes there', async () => {
  const user = someone();
  await service.event({ userEmail: user, eventType: 'daily_visit' });
  const { body } = await service.request(`${service.ready.urls.control}/clock/due?limit=5`);
  const times = body.due.map(({ at }: { at: string }) => Date.parse(at));
  expect(times.length).toBeGreaterThan(0);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  const moved = await service.control('/clock', { until: 'next' });
  expect(moved.status).toBe(200);
  expect(Date.parse(moved.body.now)).toBeGreaterThanOrEqual(times[0]);
  const wrong = await service.request(`${service.ready.urls.control}/clock/due?limit=0`);
  expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringContaining('limit')]);
});

test('rewards top and rewards clock due say the same', async () => {
  const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
  const target = ['--target', service.ready.urls.events];
  const top = await rewardsJson(['top', ...target], { env });
  expect(top.envelope.data.body.totals).toEqual((await overview()).totals);
  const due = await rewardsJson(['clock', 'due', ...target, '--limit', '3'], { env });
  expect(due.envelope.data.body.due.length).toBeLessThanOrEqual(3);
});
