/** Unlocked achievements and claimed milestones that are not what rewards and streaks say are found and named. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { VerifyReport } from '../../src/audit/report.ts';
import { until } from '../kits/service/clock.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';

let service: TestService;
let ledger: SQLite.Database;
const user = someone();
const undo: (() => void)[] = [];
beforeAll(async () => {
  service = await startTestService();
  const { brandId } = service.brand;
  const achievements = {
    first: 'claims 1 First',
    earner: 'rwt_earned 50 Earner',
    begun: 'streak_days 1 Begun',
    chatty: 'manual 3 Chatty',
  };
  const set = await service.change(`/brands/${brandId}`, { achievements, 'streakMilestones.1': 5 });
  expect(set.status).toBe(200);
  const of = { brandId, userIdentifier: user, platform: 'web' };
  expect((await service.event({ userEmail: user })).status).toBe(200);
  expect((await service.post('/streak/record-activity', { ...of, streakType: 'daily' })).status).toBe(200);
  const claim = { ...of, streakType: 'daily', milestoneDays: 1 };
  expect((await service.post('/streak/claim-milestone', claim)).status).toBe(200);
  const report = { ...of, achievementType: 'chatty', newValue: 3 };
  expect((await service.post('/achievements/update-progress', report)).status).toBe(200);
  ledger = new SQLite(join(service.ready.dataDir, 'ledger.sqlite'));
  const unlocked = () => ledger.prepare('select * from achievement_progress where unlocked_at > 0').all();
  await until('all to be unlocked', async () => unlocked().length === 4);
  await until('ledger and chain to agree', async () => (await verify()).ok);
});
afterAll(async () => {
  ledger?.close();
  await service?.stop();
});
afterEach(() => {
  for (const back of undo.splice(0).reverse()) back();
});

async function verify(): Promise<VerifyReport> {
  return (await service.request(`${service.ready.urls.control}/verify`)).body;
}
/** Changes the ledger behind the service's back; taken back after the test. */
function plant(statement: string, back: string) {
  ledger.exec(`pragma foreign_keys = off; ${statement}`);
  undo.push(() => ledger.exec(back));
}

describe('unlocked achievements', () => {
  test.each([
    ['first', 3],
    ['earner', 116],
    ['begun', 2],
  ])('%s, unlocked by more than the user has', async (type, more) => {
    const row = `where achievement_type = '${type}'`;
    const { progress } = ledger.prepare(`select progress from achievement_progress ${row}`).get() as {
      progress: number;
    };
    plant(
      `update achievement_progress set progress = ${more + 1} ${row}`,
      `update achievement_progress set progress = ${progress} ${row}`,
    );
    expect((await verify()).differences).toMatchObject([
      { kind: 'achievement_unlock', about: { userKey: user, achievement: type }, found: String(more + 1) },
    ]);
  });

  test('what only clients count, what the brand asks for by now, and unlocks from before are let be', async () => {
    const manual = "where achievement_type = 'chatty'";
    plant(
      `update achievement_progress set progress = 999 ${manual}`,
      `update achievement_progress set progress = 3 ${manual}`,
    );
    const first = "where achievement_type = 'first'";
    plant(
      `update achievement_progress set progress = 999, unlocked_by = null ${first}`,
      `update achievement_progress set progress = 1, unlocked_by = 'claims' ${first}`,
    );
    await service.change(`/brands/${service.brand.brandId}`, { 'achievements.begun': 'claims 500 Begun' });
    expect((await verify()).differences).toEqual([]);
    await service.change(`/brands/${service.brand.brandId}`, { 'achievements.begun': 'streak_days 1 Begun' });
  });
});

describe('what is paid once for ever', () => {
  test('a claim without its reward, and a reward that paid the same order again', async () => {
    const order = { userEmail: user, eventType: 'purchase', metadata: { order_id: 'A-1' } };
    await service.change(`/brands/${service.brand.brandId}/rules/purchase`, {
      maxClaims: 'unlimited',
      cooldown: 0,
    });
    const { body } = await service.event(order);
    expect((await service.event({ ...order, metadata: { order_id: 'A-2' } })).status).toBe(200);
    await until('ledger and chain to agree', async () => (await verify()).ok);
    const ofFirst = `where reward_id = '${body.eventId}'`;
    plant(
      `update once_claims set reward_id = 'of nobody' ${ofFirst}`,
      `update once_claims set reward_id = '${body.eventId}' where reward_id = 'of nobody'`,
    );
    expect((await verify()).differences).toMatchObject([
      { kind: 'once_claim', message: expect.stringContaining('its reward of nobody is not there') },
    ]);
    for (const back of undo.splice(0)) back();
    const second = `where metadata ->> 'order_id' = 'A-2'`;
    plant(
      `update rewards set metadata = '{"order_id":"A-1"}', created_at = created_at + 1000 ${second}`,
      `update rewards set metadata = '{"order_id":"A-2"}', created_at = created_at - 1000 where metadata ->> 'order_id' = 'A-1' and id <> '${body.eventId}'`,
    );
    expect((await verify()).differences).toContainEqual(
      expect.objectContaining({
        kind: 'once_claim',
        message: expect.stringMatching(/^order_id A-1 of .* was rewarded again by the reward of sequence/),
      }),
    );
  });
});

describe('claimed milestones', () => {
  const kinds = async () => new Set((await verify()).differences.map(({ kind }) => kind));

  test.each([
    ['a bonus of another amount', 'bonus = bonus + 1', 'bonus = bonus - 1'],
    ['of days that the streak never had', 'days = 9', 'days = 1'],
  ])('%s', async (_, change, back) => {
    plant(`update streak_milestones set ${change}`, `update streak_milestones set ${back}`);
    expect(await kinds()).toEqual(new Set(['streak_milestone']));
  });

  test('a bonus without its claim, and a claim without its reward', async () => {
    const { reward_id: id } = ledger.prepare('select reward_id from streak_milestones').get() as {
      reward_id: string;
    };
    plant(
      'update streak_milestones set reward_id = null',
      `update streak_milestones set reward_id = '${id}'`,
    );
    const { differences } = await verify();
    expect(differences).toMatchObject([{ kind: 'streak_milestone', expected: '0', found: '1' }]);
    for (const back of undo.splice(0)) back();
    plant(
      "update streak_milestones set reward_id = 'of nobody'",
      `update streak_milestones set reward_id = '${id}'`,
    );
    const messages = (await verify()).differences.map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining('is not the reward of nobody'));
  });
});
