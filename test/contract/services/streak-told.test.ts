/** What others hear of a streak: the brand's server by webhook, and the audit on chain. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../kits/service/clock.ts';
import { someone, startTestService, type TestService } from '../../kits/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

test('a milestone is told when it is reached, its bonus when it is paid, and verify finds no difference', async () => {
  const { brandId } = service.brand;
  await service.change(`/brands/${brandId}`, { 'streakMilestones.1': 5 });
  const userIdentifier = someone();
  const user = { brandId, userIdentifier, platform: 'web' };
  expect((await service.post('/streak/record-activity', user)).status).toBe(200);
  expect((await service.post('/streak/claim-milestone', { ...user, milestoneDays: 1 })).status).toBe(200);
  const told = async () => {
    const { body } = await service.request(`${service.ready.urls.control}/inbox`);
    return body.deliveries.map((one: { body: { type: string; data: object } }) => one.body);
  };
  await until('three webhooks', async () => (await told()).length >= 3);
  const bodies = await told();
  expect(bodies.filter(({ type }: { type: string }) => type === 'streak.milestone')).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      type: 'streak.milestone',
      created: expect.any(Number),
      data: { userEmail: userIdentifier, milestoneDays: 1, bonusAmount: 5, timestamp: expect.any(Number) },
    },
  ]);
  const paid = bodies.flatMap(
    ({ type, data }: { type: string; data: { eventType: string; amount: number } }) =>
      type === 'reward.distributed' ? [[data.eventType, data.amount]] : [],
  );
  expect(paid.sort()).toEqual([
    ['streak_checkin', 10],
    ['streak_milestone', 5],
  ]);
  const verified = await service.request(`${service.ready.urls.control}/verify`);
  expect([verified.body.ok, verified.body.differences]).toEqual([true, []]);
});
