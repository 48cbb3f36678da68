/** GET achievements and POST achievements/update-progress, and what unlocks an achievement. */
import { expect, test } from 'vitest';
import { until } from '../../kits/service/clock.ts';
import { someone } from '../../kits/service/service.ts';
import { API, type Brand, bearer, expectBothForms, onEachDatabase, open, shop } from '../kit.ts';

const achievements = {
  first: 'claims 1 First steps',
  third: 'claims 3 Third time lucky',
  earner: 'rwt_earned 25 Earner',
  chatterbox: 'manual 10 Chatterbox',
};

onEachDatabase('achievements', (get) => {
  const show = async (user: string, of: Brand = shop) =>
    (await get().request(`/achievements/${of.brandId}/${encodeURIComponent(user)}`)).body.achievements;
  const report = (fields: Record<string, unknown>, headers?: Record<string, string>) =>
    get().post(
      '/achievements/update-progress',
      { brandId: shop.brandId, achievementType: 'chatterbox', platform: 'discord', ...fields },
      headers,
    );
  const earn = (userEmail: string) => get().send(shop, { userEmail, eventType: 'endless' });
  const unlockedOf = async (user: string) =>
    (await show(user)).flatMap((one: { isUnlocked: boolean; achievementType: string }) =>
      one.isUnlocked ? one.achievementType : [],
    );

  test('are settings of the brand; an unknown user has none of them', async () => {
    expect((await get().set(shop, { achievements })).body.achievements).toEqual(achievements);
    expect(await show(someone())).toEqual(
      [
        ['first', 'First steps', 'claims', 1],
        ['third', 'Third time lucky', 'claims', 3],
        ['earner', 'Earner', 'rwt_earned', 25],
        ['chatterbox', 'Chatterbox', 'manual', 10],
      ].map(([achievementType, name, metric, threshold]) => ({
        achievementType,
        name,
        metric,
        threshold,
        currentProgress: 0,
        isUnlocked: false,
        unlockedAt: null,
        rewardClaimed: false,
        rewardClaimedAt: null,
      })),
    );
    expect(await show(someone(), open)).toEqual([]);
    const { status, body } = await get().set(shop, { 'achievements.odd': 'claims many of them' });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('must be a metric')]);
  });

  test('events unlock them by themselves, each once, and the brand is told', async () => {
    const user = someone();
    await earn(user);
    await until('the first is unlocked', async () => (await unlockedOf(user)).includes('first'));
    const [first] = await show(user);
    expect(first).toMatchObject({ currentProgress: 1, unlockedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    await get().advance('61s');
    await earn(user);
    await get().advance('61s');
    await earn(user);
    await until('all are unlocked', async () => (await unlockedOf(user)).length === 3);
    const all = await show(user);
    expect(all.map((one: { currentProgress: number }) => one.currentProgress)).toEqual([3, 3, 30, 0]);
    expect(all[0]).toEqual({ ...first, currentProgress: 3 });
    expect(all[1].unlockedAt > first.unlockedAt).toBe(true);
  });

  test('the webhook achievement.unlocked names user and achievement, once', async () => {
    const user = someone();
    const inbox = `${get().ready.urls.control}/inbox`;
    const added = await get().control('/webhooks/endpoints', {
      brand: shop.brandId,
      url: inbox,
      types: 'achievement.unlocked',
    });
    expect(added.status).toBe(201);
    await earn(user);
    for (let time = 0; time < 3; time++) await report({ userIdentifier: user, increment: 10 });
    const told = async () =>
      ((await get().request(`${inbox}?limit=50`)).body.deliveries ?? [])
        .map(({ body }: { body: unknown }) => (typeof body === 'string' ? JSON.parse(body) : body))
        .filter((body: { data?: { userEmail?: string } }) => body?.data?.userEmail === user);
    await until('both are told', async () => (await told()).length >= 2);
    const types = (await told()).map(
      (body: { type: string; data: { achievementId: string; achievementName: string } }) =>
        `${body.type} ${body.data.achievementId} ${body.data.achievementName}`,
    );
    expect(types.sort()).toEqual([
      'achievement.unlocked chatterbox Chatterbox',
      'achievement.unlocked first First steps',
    ]);
  });

  test('reported progress is set or added, as clients write it, and unlocks once', async () => {
    const userIdentifier = someone();
    const answers: unknown[] = [];
    for (const fields of [
      { newValue: 4 },
      { increment: 2 },
      { newValue: 2, increment: true },
      { increment: true },
      { newValue: 5, increment: false },
      { increment: 5 },
      { increment: 1 },
      { newValue: 3 },
    ]) {
      const { status, body } = await report({ userIdentifier, ...fields });
      expect([status, body.success]).toEqual([200, true]);
      answers.push([body.currentProgress, body.isUnlocked, body.unlocked.length]);
    }
    expect(answers).toEqual([
      [4, false, 0],
      [6, false, 0],
      [8, false, 0],
      [9, false, 0],
      [5, false, 0],
      [10, true, 1],
      [11, true, 0],
      [3, true, 0],
    ]);
    const chatterbox = (await show(userIdentifier)).at(-1);
    expect(chatterbox).toMatchObject({ currentProgress: 3, isUnlocked: true });
  });

  test('of many reports at once one unlocks, and none is lost', async () => {
    const userIdentifier = someone();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => report({ userIdentifier, increment: 1 })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(({ body }) => body.unlocked.length > 0)).toHaveLength(1);
    expect((await show(userIdentifier)).at(-1)).toMatchObject({ currentProgress: 20, isUnlocked: true });
  });

  test('progress ends at its limit', async () => {
    const userIdentifier = someone();
    await report({ userIdentifier, newValue: 1_000_000_000 });
    expect((await report({ userIdentifier, increment: 1_000_000_000 })).body.currentProgress).toBe(
      1_000_000_000,
    );
  });

  test.each<[string, Record<string, unknown>, string, RegExp]>([
    [
      'an unknown achievement',
      { achievementType: 'nothing' },
      'achievement_not_found',
      /reported for chatterbox/,
    ],
    ['one that the service counts', { achievementType: 'first' }, 'achievement_is_counted', /metric manual/],
    ['two numbers', { newValue: 1, increment: 1 }, 'invalid_request', /one number, not two/],
    ['no number', { increment: undefined }, 'invalid_request', /newValue: is required/],
    ['a negative number', { increment: -1 }, 'invalid_request', /increment: /],
    [
      'half a point',
      { newValue: 0.5, increment: undefined },
      'invalid_request',
      /newValue: must be a whole number/,
    ],
    ['no user', { userIdentifier: '' }, 'invalid_request', /userIdentifier: is required/],
  ])('%s: 400', async (_, fields, reason, message) => {
    const answer = await report({ userIdentifier: 'a@b.example', increment: 1, ...fields });
    expect([answer.status, answer.body.details.reason]).toEqual([400, reason]);
    expect(answer.body.message).toMatch(message);
    expectBothForms(answer);
  });

  test('an unknown brand: 400, asked either way', async () => {
    const brandId = `0x${'9'.repeat(40)}`;
    const asked = await get().request(`/achievements/${brandId}/a@b.example`);
    const reported = await report({ brandId, userIdentifier: 'a@b.example', increment: 1 });
    for (const { status, body } of [asked, reported])
      expect([status, body.error]).toEqual([400, `Brand not found: ${brandId}`]);
  });

  test('engagementWrites: credential: reports need the key of that brand', async () => {
    const userIdentifier = someone();
    await get().set(shop, { engagementWrites: 'credential' });
    try {
      const refused = [
        await report({ userIdentifier, increment: 1 }),
        await report({ userIdentifier, increment: 1 }, bearer(open)),
      ];
      for (const { status, body } of refused)
        expect([status, body.error, body.details.reason]).toEqual([
          401,
          'Unauthorized',
          'brand_key_required',
        ]);
      expect((await report({ userIdentifier, increment: 1 }, bearer(shop))).body.currentProgress).toBe(1);
      expect((await show(userIdentifier)).at(-1).currentProgress).toBe(1);
    } finally {
      await get().set(shop, { engagementWrites: 'open' });
    }
  });

  test("pages of other domains may not report, the brand's own may", async () => {
    const from = async (origin: string) =>
      (await report({ userIdentifier: 'page@people.example', increment: 1 }, { origin })).status;
    expect(await from('https://elsewhere.example')).toBe(403);
    expect(await from('https://www.shop.example')).toBe(200);
  });

  test('days in a row unlock theirs in the commit of the check-in', async () => {
    const userIdentifier = someone();
    await get().set(shop, { 'achievements.faithful': 'streak_days 2 Faithful' });
    const checkIn = () =>
      get().post('/streak/record-activity', {
        brandId: shop.brandId,
        domain: shop.domain,
        userIdentifier,
        platform: 'web',
        streakType: 'daily',
      });
    const faithful = async () =>
      (await show(userIdentifier)).find(
        (one: { achievementType: string }) => one.achievementType === 'faithful',
      );
    expect((await checkIn()).status).toBe(200);
    expect(await faithful()).toMatchObject({ currentProgress: 1, isUnlocked: false });
    await get().advance('24h');
    expect((await checkIn()).status).toBe(200);
    expect(await faithful()).toMatchObject({ currentProgress: 2, isUnlocked: true });
    await get().set(shop, { 'achievements.faithful': '' });
  });

  test('an achievement that is added later unlocks with the next reward', async () => {
    const user = someone();
    await earn(user);
    await get().set(shop, { 'achievements.late': 'rwt_earned 10 Late' });
    const late = (await show(user)).find(
      (one: { achievementType: string }) => one.achievementType === 'late',
    );
    expect(late).toMatchObject({ currentProgress: 10, threshold: 10, isUnlocked: false });
    await get().advance('61s');
    await earn(user);
    await until('it is unlocked', async () => (await unlockedOf(user)).includes('late'));
    await get().set(shop, { 'achievements.late': '' });
    const { body } = await get().request(
      `${API}/user-balance?${new URLSearchParams({ brandId: shop.brandId, userEmail: user })}`,
    );
    expect(body.balance).toBe(20);
  });
});
