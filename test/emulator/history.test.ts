/** What was rewarded over time: over the control API and the command line, of all brands and of one, by the stack's clock. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const history = async (query = '') => await service.request(`${service.ready.urls.control}/history?${query}`);

test('a reward is in the last bucket, and moves back as the clock goes on', async () => {
  const before = (await history('range=hour')).body.totals;
  const { body: paid } = await service.event({ userEmail: someone() });
  const { body: hour } = await history('range=hour&brand=demo.example');
  expect(hour.totals).toEqual({ rewards: before.rewards + 1, rwt: before.rwt + paid.rewardAmount });
  expect(hour).toMatchObject({ range: 'hour', brandId: service.brand.brandId, bucketSeconds: 60 });
  expect(hour.buckets).toHaveLength(60);
  await service.control('/clock', { advance: '61m' });
  expect((await history('range=hour')).body.totals).toEqual({ rewards: 0, rwt: 0 });
  const { body: day } = await history();
  expect([day.range, day.brandId, day.countedFrom]).toEqual(['day', null, null]);
  expect(day.totals).toEqual(hour.totals);
  expect(day.buckets.at(-1).rewards).toBe(0);
});

test('a range or a brand that is none is refused by name', async () => {
  const wrong = await history('range=year');
  expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([400, expect.stringContaining('range')]);
  expect((await history('brand=nowhere.example')).status).toBe(404);
});

test('rewards history shows it as a table, and says how much of the time had nothing', async () => {
  const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken };
  const target = ['--target', service.ready.urls.events];
  await service.event({ userEmail: someone() });
  const { envelope } = await rewardsJson(['history', ...target, '--range', 'hour'], { env });
  expect(envelope.data.body.totals.rewards).toBe(1);
  const shown = await rewards(['history', ...target, '--range', 'hour', '--brand', 'demo.example'], { env });
  expect(shown.stdout).toMatch(/^the last hour {2}1 rewards, \d+ RWT\n/);
  expect(shown.stdout).toContain('nothing in 59 of 60 times 1m');
  const wrong = await rewards(['history', ...target, '--range', 'year'], { env });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('hour, day, week, month')]);
});
