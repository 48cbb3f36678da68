/** Achievements when two processes share one database: each is unlocked once, and the brand is told once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver } from '../../kits/network/receivers.ts';
import { onTwoProcesses } from '../../kits/service/two-processes.ts';

const AT_ONCE = 60;
const achievements = {
  chatterbox: 'manual 30 Chatterbox',
  twice: 'claims 2 Twice',
  week: 'streak_days 1 Begun',
};

onTwoProcesses((get) => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    receiver = await startReceiver();
    const { one } = get();
    const brand = one.brand.brandId;
    const set = await one.change(`/brands/${brand}`, { achievements });
    expect(set.status).toBe(200);
    const url = `http://127.0.0.1:${receiver.port}/hooks`;
    const added = await one.control('/webhooks/endpoints', { brand, url, types: 'achievement.unlocked' });
    expect(added.status).toBe(201);
  });
  afterAll(() => receiver?.stop());

  const told = (user: string) =>
    receiver.received
      .map(
        ({ body }) =>
          JSON.parse(String(body)) as { id: string; data: { userEmail: string; achievementId: string } },
      )
      .filter(({ data }) => data.userEmail === user);
  /** Once everything is paid, followed and sent. */
  const toldOnce = async (user: string, types: string[]) => {
    const ids = () => told(user).map(({ data }) => data.achievementId);
    await expect.poll(() => ids().sort(), { timeout: 20_000 }).toEqual(types);
    await get().agree();
    expect(ids().sort()).toEqual(types);
  };

  test(`${AT_ONCE} reports of progress at once unlock once, and none is lost`, async () => {
    const { one, nth } = get();
    const user = 'chatty@people.example';
    const body = { brandId: one.brand.brandId, userIdentifier: user, platform: 'discord' };
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        nth(n).post('/achievements/update-progress', {
          ...body,
          achievementType: 'chatterbox',
          increment: 1,
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const progress = answers.map((answer) => answer.body.currentProgress as number).sort((a, b) => a - b);
    expect(progress).toEqual(Array.from({ length: AT_ONCE }, (_, n) => n + 1));
    const unlocking = answers.filter((answer) => answer.body.unlocked.length > 0);
    expect(unlocking.map((answer) => answer.body.currentProgress)).toEqual([30]);
    await toldOnce(user, ['chatterbox']);
  }, 120_000);

  test('rewards and a check-in through both unlock each achievement once', async () => {
    const { one, two, nth } = get();
    const user = 'busy@people.example';
    const of = { brandId: one.brand.brandId, userIdentifier: user, platform: 'web' };
    const rewarded = await Promise.all([
      one.event({ userEmail: user, eventType: 'account_creation' }),
      two.event({ userEmail: user, eventType: 'newsletter_subscribe' }),
      ...Array.from({ length: 20 }, (_, n) => nth(n).post('/streak/record-activity', of)),
    ]);
    expect(new Set(rewarded.map(({ status }) => status))).toEqual(new Set([200]));
    await toldOnce(user, ['twice', 'week']);
    const shown = await two.request(`/achievements/${of.brandId}/${encodeURIComponent(user)}`);
    const unlocked = shown.body.achievements.flatMap(
      (each: { isUnlocked: boolean; achievementType: string }) =>
        each.isUnlocked ? each.achievementType : [],
    );
    expect(unlocked.sort()).toEqual(['twice', 'week']);
  }, 120_000);
});
