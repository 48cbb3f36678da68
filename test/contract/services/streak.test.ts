/** Streaks through HTTP: days in a row, what they multiply, milestones and who pays (docs/engagement.md). */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, expectBothForms, onEachDatabase, open, paused, poor, shop } from '../kit.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A Monday, at noon. */
const START_MS = Date.UTC(2031, 0, 6, 12);

onEachDatabase(
  'streaks',
  (get) => {
    const record = (
      fields: Record<string, unknown>,
      {
        of = shop,
        headers,
      }: { of?: { brandId: string; domain?: string }; headers?: Record<string, string> } = {},
    ) =>
      get().post('/streak/record-activity', { brandId: of.brandId, domain: of.domain, ...fields }, headers);
    const claim = (
      fields: Record<string, unknown>,
      of: { brandId: string; domain?: string } = shop,
      headers?: Record<string, string>,
    ) =>
      get().post('/streak/claim-milestone', { brandId: of.brandId, domain: of.domain, ...fields }, headers);
    const status = async (user: string, query = '', of: { brandId: string } = shop) =>
      (await get().request(`/streak/status/${of.brandId}/${encodeURIComponent(user)}${query}`)).body;
    const at = (ms: number) => get().setClock(ms);
    const balance = async (userEmail: string, of: { brandId: string } = shop) => {
      const asked = { brandId: of.brandId, userEmail, includeHistory: true };
      const { body } = await get().post('/rewards-api/user-balance', asked);
      const onChain = body.walletAddress === null ? 0n : await get().balanceOf(body.walletAddress);
      return { onChain: Number(onChain), rewards: body.history.map((one: { amount: number }) => one.amount) };
    };

    test('seven days: floor(10 × multiplier) each, and the milestone of seven pays once', async () => {
      const userIdentifier = someone();
      const user = { userIdentifier, platform: 'web', streakType: 'daily' };
      const days = [];
      for (let day = 0; day < 7; day++) {
        await at(START_MS + day * DAY_MS);
        const { status: code, body } = await record(user);
        expect([code, body.success, body.isNewActivity, body.wasNew]).toEqual([200, true, true, true]);
        days.push([body.previousStreak, body.currentStreak, body.multiplier, body.reward.final]);
      }
      expect(days).toEqual([
        [0, 1, 1, 10],
        [1, 2, 1, 10],
        [2, 3, 1.1, 11],
        [3, 4, 1.1, 11],
        [4, 5, 1.1, 11],
        [5, 6, 1.1, 11],
        [6, 7, 1.25, 12],
      ]);
      expect(await balance(userIdentifier)).toEqual({ onChain: 76, rewards: [12, 11, 11, 11, 11, 10, 10] });

      const again = (await record(user)).body;
      expect(again).toMatchObject({
        success: true,
        isNewActivity: false,
        wasNew: false,
        currentStreak: 7,
        totalStreakDays: 7,
        unclaimedMilestones: [{ days: 7, bonus: 100 }],
        nextMilestone: { days: 30, bonus: 500 },
        streak: { current: 7, longest: 7, multiplier: 1.25, graceUsed: false },
        reward: { base: 10, final: 0 },
      });
      expect(await status(userIdentifier)).toEqual({
        success: true,
        currentStreak: 7,
        longestStreak: 7,
        multiplier: 1.25,
        checkedInToday: true,
        totalStreakDays: 7,
        nextMilestone: { days: 30, bonus: 500 },
        daysToNextMilestone: 23,
        unclaimedMilestones: [{ days: 7, bonus: 100 }],
        lastActivityAt: new Date(START_MS + 6 * DAY_MS).toISOString(),
      });

      const claimed = await claim({ ...user, milestoneDays: 7 });
      expect([claimed.status, claimed.body]).toEqual([
        200,
        {
          success: true,
          bonus: 100,
          bonusRwt: 100,
          milestone: 7,
          rewardId: expect.any(String),
          transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        },
      ]);
      expect((await balance(userIdentifier)).onChain).toBe(176);
      const stats = await get().request(`/user-stats/${shop.brandId}/${encodeURIComponent(userIdentifier)}`);
      expect(stats.body.streak).toEqual({ current: 7, longest: 7 });
      const twice = await claim({ ...user, milestoneDays: 7 });
      expect([twice.status, twice.body.error]).toEqual([400, 'Milestone already claimed']);
      expectBothForms(twice);
      expect(await status(userIdentifier)).toMatchObject({ unclaimedMilestones: [] });
      expect((await balance(userIdentifier)).onChain).toBe(176);
    });

    test('a missed day within the grace keeps the streak, a longer one ends it, and the longest stays', async () => {
      const userIdentifier = someone();
      const start = START_MS + 10 * DAY_MS + 8 * HOUR_MS;
      await at(start);
      await record({ userIdentifier });
      // From 20:00 to 08:00 two calendar days later: 36 h.
      await at(start + 36 * HOUR_MS);
      expect((await record({ userIdentifier })).body).toMatchObject({
        currentStreak: 2,
        streak: { graceUsed: true },
      });
      await at(start + 60 * HOUR_MS);
      expect(await status(userIdentifier)).toMatchObject({ currentStreak: 2, checkedInToday: false });
      // The day after the next begins, 40 h after the last activity.
      await at(start + 76 * HOUR_MS);
      expect(await status(userIdentifier)).toMatchObject({
        currentStreak: 0,
        longestStreak: 2,
        multiplier: 1,
        checkedInToday: false,
        nextMilestone: { days: 7, bonus: 100 },
        daysToNextMilestone: 7,
      });
      expect((await record({ userIdentifier })).body).toMatchObject({
        previousStreak: 2,
        currentStreak: 1,
        longestStreak: 2,
        totalStreakDays: 3,
        streak: { graceUsed: false },
      });
    });

    test.each([
      // Two check-ins a few minutes apart, on both sides of midnight, on the night the clocks change and the next.
      ['America/New_York', 'forward', Date.UTC(2031, 2, 9, 5), Date.UTC(2031, 2, 10, 4)],
      ['Europe/Berlin', 'forward', Date.UTC(2031, 2, 29, 23), Date.UTC(2031, 2, 30, 22)],
      ['Europe/Berlin', 'back', Date.UTC(2031, 9, 25, 22), Date.UTC(2031, 9, 26, 23)],
      ['America/New_York', 'back', Date.UTC(2031, 10, 2, 4), Date.UTC(2031, 10, 3, 5)],
    ])('in %s, on the day the clocks go %s', async (timeZone, _, midnight, nextMidnight) => {
      await get().set(open, { timeZone });
      const userIdentifier = someone();
      const counted = async (ms: number) => {
        await at(ms);
        const { body } = await record({ userIdentifier }, { of: open });
        return [body.isNewActivity, body.currentStreak];
      };
      expect(await counted(midnight - 60_000)).toEqual([true, 1]);
      expect(await counted(midnight)).toEqual([true, 2]);
      expect(await counted(nextMidnight - 60_000)).toEqual([false, 2]);
      expect(await counted(nextMidnight)).toEqual([true, 3]);
      expect(nextMidnight - midnight).not.toBe(DAY_MS);
    });

    test('many check-ins of a user at once are one', async () => {
      const userIdentifier = someone();
      const answers = await Promise.all(Array.from({ length: 40 }, () => record({ userIdentifier })));
      expect(answers.map(({ status: code }) => code)).toEqual(Array(40).fill(200));
      expect(answers.filter(({ body }) => body.isNewActivity)).toHaveLength(1);
      expect(await balance(userIdentifier)).toEqual({ onChain: 10, rewards: [10] });
      expect((await status(userIdentifier)).totalStreakDays).toBe(1);
    });

    test('an unknown user has zeros, in both forms of the question', async () => {
      const zeros = {
        success: true,
        currentStreak: 0,
        longestStreak: 0,
        multiplier: 1,
        checkedInToday: false,
        totalStreakDays: 0,
        nextMilestone: { days: 7, bonus: 100 },
        daysToNextMilestone: 7,
        unclaimedMilestones: [],
        lastActivityAt: null,
      };
      const user = someone();
      expect(await status(user)).toEqual(zeros);
      const query = new URLSearchParams({ brandId: shop.brandId, userIdentifier: user });
      const asked = await get().request(`/streak/status?${query}`);
      expect([asked.status, asked.body]).toEqual([200, zeros]);
    });

    test('streaks of another type are counted by themselves, and pay nothing until the brand names them', async () => {
      const userIdentifier = someone();
      const engaged = { userIdentifier, streakType: 'Engagement' };
      expect((await record(engaged)).body).toMatchObject({
        isNewActivity: true,
        currentStreak: 1,
        nextMilestone: null,
        reward: { base: 0, final: 0 },
      });
      expect((await record({ userIdentifier })).body.reward.final).toBe(10);
      expect((await status(userIdentifier, '?streakType=engagement')).currentStreak).toBe(1);
      expect((await balance(userIdentifier)).rewards).toEqual([10]);
      const unpaid = await claim({ ...engaged, milestoneDays: 7 });
      expect([unpaid.status, unpaid.body.message]).toEqual([
        400,
        'Streaks of this type have no milestones, or the brand has not turned on that streaks pay.',
      ]);
      await get().set(open, { streakTypes: ['daily', 'engagement'], timeZone: 'UTC' });
      expect((await record({ ...engaged, userIdentifier: someone() }, { of: open })).body.reward.final).toBe(
        10,
      );
      await get().set(open, { streakTypes: 'daily' });
    });

    test('a user has 20 types of streaks at most', async () => {
      const userIdentifier = someone();
      for (let type = 0; type < 20; type++) await record({ userIdentifier, streakType: `type-${type}` });
      const refused = await record({ userIdentifier, streakType: 'one-more' });
      expect([refused.status, refused.body.details]).toEqual([
        400,
        { reason: 'too_many_streak_types', typesMax: 20 },
      ]);
      expectBothForms(refused);
      expect((await record({ userIdentifier, streakType: 'type-3' })).status).toBe(200);
    });

    test("a brand's own settings: base, multipliers, milestones, grace, by their names and by their others", async () => {
      const changed = await get().set(open, {
        'streak.base': 100,
        streakMultipliers: { 2: 1.15 },
        'streakMilestones.1': 5,
        'streak.grace': '30h',
      });
      expect(changed.body).toMatchObject({
        streakBase: 100,
        streakMultipliers: { 2: 1.15 },
        streakGraceMs: 30 * HOUR_MS,
        streakMilestones: { 1: 5, 7: 100, 30: 500, 100: 2000, 365: 10_000 },
      });
      const userIdentifier = someone();
      expect((await record({ userIdentifier }, { of: open })).body).toMatchObject({
        reward: { final: 100, milestone: { days: 1, bonus: 5 } },
        unclaimedMilestones: [{ days: 1, bonus: 5 }],
      });
      await get().advance('24h');
      // Not 114, which it would be in floating point.
      expect((await record({ userIdentifier }, { of: open })).body.reward).toMatchObject({ final: 115 });
      expect((await claim({ userIdentifier, milestoneDays: '1' }, open)).body.bonus).toBe(5);
      expect((await balance(userIdentifier, open)).onChain).toBe(220);
      await get().advance('48h');
      expect((await status(userIdentifier, '', open)).currentStreak).toBe(0);
      await get().set(open, { 'streak.base': 10, 'streak.grace': '36h' });
    });

    describe('who pays for a check-in', () => {
      test('the service and a rule never both', async () => {
        const both = await get().set(shop, { 'streak.checkInEvents': ['hourly'] });
        expect([
          both.status,
          both.body.error?.message ?? both.body.message ?? JSON.stringify(both.body),
        ]).toEqual([400, expect.stringContaining('would pay for the same check-in again')]);
        await get().set(shop, { streakCheckInEvents: ['daily_visit'] });
        const rule = await get().setRule(shop, 'daily_visit', { reward: 5 });
        expect([rule.status, JSON.stringify(rule.body)]).toEqual([
          400,
          expect.stringContaining('this rule would pay a second time'),
        ]);
        await get().set(shop, { streakCheckInEvents: 'none' });
      });

      test.each(['streak_checkin', 'streak_milestone'])('no rule may be called %s', async (eventType) => {
        const { status: code, body } = await get().setRule(shop, eventType, { reward: 5 });
        expect([code, JSON.stringify(body)]).toEqual([
          400,
          expect.stringContaining('is the type of a reward that the service itself grants'),
        ]);
      });

      test("with `event` the brand's own event pays once, by the ledger's streak and not by its metadata", async () => {
        await get().set(shop, { streakPays: 'event', streakCheckInEvents: 'daily_visit' });
        await get().setRule(shop, 'daily_visit', { reward: 777, maxClaims: 'unlimited', cooldown: '20h' });
        const userEmail = someone();
        const paid = [];
        for (let day = 0; day < 3; day++) {
          await get().advance('24h');
          const { body } = await record({ userIdentifier: userEmail });
          expect(body.reward.rewardId).toBeUndefined();
          const metadata = { streak: 100, currentStreak: 100, multiplier: 50, reward: 5000 };
          const sent = await get().send(shop, { userEmail, eventType: 'daily_visit', metadata });
          paid.push([body.reward.final, sent.body.rewardAmount ?? sent.body.rwtDistributed]);
        }
        expect(paid).toEqual([
          [10, 10],
          [10, 10],
          [11, 11],
        ]);
        const again = await get().send(shop, { userEmail, eventType: 'daily_visit' });
        expect(again.status).toBe(409);
        const requestId = again.headers.get('x-request-id');
        const { body: shown } = await get().request(`${get().ready.urls.control}/requests/${requestId}`);
        expect(shown.explained[0].checks).toContainEqual(
          expect.objectContaining({
            name: 'event',
            text: "daily_visit is a check-in and pays 11 RWT: 10 × 1.1 of the user's streak",
          }),
        );
        expect(await balance(userEmail)).toEqual({ onChain: 31, rewards: [11, 10, 10] });
        await get().set(shop, { 'streakMilestones.3': 40 });
        const user = { userIdentifier: userEmail, milestoneDays: 3 };
        expect((await claim(user)).body).toEqual({ success: true, bonus: 40, bonusRwt: 40, milestone: 3 });
        expect((await claim(user)).body.error).toBe('Milestone already claimed');
        expect((await balance(userEmail)).onChain).toBe(31);
        await get().setRule(shop, 'daily_visit', { active: false });
        await get().set(shop, {
          streakPays: 'service',
          streakCheckInEvents: 'none',
          'streakMilestones.3': '',
        });
      });

      test("a rule with `multiplier: streak` pays by the ledger's streak", async () => {
        await get().setRule(shop, 'multiplied', { reward: 10, multiplier: 'streak', maxClaims: 'unlimited' });
        const userEmail = someone();
        for (let day = 0; day < 3; day++) {
          await get().advance('24h');
          await record({ userIdentifier: userEmail });
        }
        const sent = await get().send(shop, { userEmail, eventType: 'multiplied' });
        expect(sent.body.rewardAmount ?? sent.body.rwtDistributed).toBe(11);
        const other = await get().send(shop, { userEmail: someone(), eventType: 'multiplied' });
        expect(other.body.rewardAmount ?? other.body.rwtDistributed).toBe(10);
      });
    });

    describe('nothing pays without being configured', () => {
      /** A brand as `rewards brand create` makes it, with money to lose. */
      const newBrand = async (settings: Record<string, unknown> = {}) => {
        const brandId = `0x${randomBytes(20).toString('hex')}`;
        const domain = `b${brandId.slice(2, 14)}.example`;
        const made = await get().control('/brands', {
          brandId,
          name: 'Fresh',
          domains: [domain],
          escrow: 5000,
          ...settings,
        });
        expect(made.status).toBe(201);
        return { brandId, domain, ...made.body };
      };
      const promised = async ({ brandId }: { brandId: string }) =>
        (await get().request(`${get().ready.urls.control}/brands/${brandId}`)).body.funds.promised;

      test('streaks of a new brand count and pay nothing, whatever else of them is set', async () => {
        const of = await newBrand({ streakBase: 50, 'streakMilestones.1': 500 });
        expect(of.streakPays).toBe('off');
        const userIdentifier = someone();
        const { status: code, body } = await record({ userIdentifier }, { of });
        expect([code, body.currentStreak, body.reward]).toEqual([200, 1, { base: 0, final: 0 }]);
        expect(body.unclaimedMilestones).toEqual([]);
        const claimed = await claim({ userIdentifier, milestoneDays: 1 }, of);
        expect([claimed.status, claimed.body.details.reason]).toEqual([400, 'milestone_unknown']);
        expect(await promised(of)).toBe(0);
        await get().set(of, { streakPays: 'service' });
        expect((await record({ userIdentifier: someone() }, { of })).body.reward.final).toBe(50);
      });

      test('invented e-mails without domain or Origin are paid nothing, for check-ins and milestones', async () => {
        const of = await newBrand({ streakPays: 'service', 'streakMilestones.1': 500 });
        const strangers = await Promise.all(
          Array.from({ length: 65 }, () =>
            record({ userIdentifier: someone() }, { of: { brandId: of.brandId } }),
          ),
        );
        expect(new Set(strangers.map(({ status: code }) => code))).toEqual(new Set([403]));
        expect(strangers[0]?.body.details).toEqual({
          reason: 'domain_not_authorized',
          domain: null,
          brandId: of.brandId,
          configuredDomain: of.domain,
        });
        expectBothForms(strangers[0] as NonNullable<(typeof strangers)[0]>);
        const userIdentifier = someone();
        expect((await record({ userIdentifier }, { of })).status).toBe(200);
        const claimed = await claim({ userIdentifier, milestoneDays: 1 }, { brandId: of.brandId });
        expect([claimed.status, claimed.body.details.reason]).toEqual([403, 'domain_not_authorized']);
        expect(await promised(of)).toBe(10);
      });

      test('what pays is admitted as an event: page, brand key, chat account, and no domain of others', async () => {
        const of = await newBrand({ streakPays: 'service', platforms: { telegram: '@FreshBot' } });
        const { brandId, apiKey } = of;
        const keyed = { authorization: `Bearer ${apiKey}` };
        const codeOf = async (fields: Record<string, unknown>, headers?: Record<string, string>) =>
          (await record({ userIdentifier: someone(), ...fields }, { of: { brandId }, headers })).status;
        expect(await codeOf({ sourceUrl: `https://www.${of.domain}/profile` })).toBe(200);
        expect(await codeOf({}, { origin: `https://${of.domain}` })).toBe(200);
        expect(await codeOf({ metadata: { bot_username: '@FreshBot' }, platform: 'telegram' })).toBe(200);
        expect(await codeOf({ domain: shop.domain })).toBe(403);
        expect(await codeOf({ domain: 'no domain' })).toBe(400);
        expect(await codeOf({}, keyed)).toBe(200);
        await get().set(of, { domainless: 'refuse' });
        expect(await codeOf({}, keyed)).toBe(403);
        expect(await codeOf({ domain: 'anywhere.example' }, keyed)).toBe(200);
        await get().set(of, { domainless: 'allow' });
        expect(await codeOf({})).toBe(200);
      });
    });

    describe('refused', () => {
      test.each([
        ['no brand', { brandId: undefined }, /^brandId: is required/],
        ['no user', { userIdentifier: '' }, /^userIdentifier: is required/],
        ['a type with blanks', { streakType: 'a b' }, /^streakType: must be 1 to 50 letters/],
        ['a type that is too long', { streakType: 'x'.repeat(51) }, /^streakType: /],
        [
          'an account of the service',
          { userIdentifier: `0x${'0'.repeat(40)}` },
          /^userIdentifier: must be an account/,
        ],
      ])('%s: 400 that names the field', async (_, fields, problem) => {
        const refused = await record({ userIdentifier: someone(), ...fields });
        expect(refused.status).toBe(400);
        expectBothForms(refused);
        expect(refused.body.details.errors[0]).toMatch(problem);
      });

      test.each([[undefined], ['soon'], [0], [1.5], [10_000]])('a milestone of %s days', async (days) => {
        const refused = await claim({ userIdentifier: someone(), milestoneDays: days });
        expect([refused.status, refused.body.details.errors[0]]).toEqual([
          400,
          expect.stringMatching(/^milestoneDays: /),
        ]);
      });

      test('a milestone that the brand has not, and one that is not reached', async () => {
        const userIdentifier = someone();
        const unknown = await claim({ userIdentifier, milestoneDays: 8 });
        expect([unknown.status, unknown.body.error, unknown.body.message]).toEqual([
          400,
          'Milestone not available',
          'The brand has no milestone of 8 days; its milestones are 7, 30, 100, 365.',
        ]);
        expectBothForms(unknown);
        const early = await claim({ userIdentifier, milestoneDays: 7 });
        expect([early.status, early.body.message]).toEqual([
          400,
          "The user's longest streak is 0 of 7 days.",
        ]);
      });

      test('an unknown brand, one whose rewards are off, and one that cannot pay: nothing is recorded', async () => {
        const userIdentifier = someone();
        const nobody = { brandId: `0x${'9'.repeat(40)}` };
        expect((await record({ userIdentifier }, { of: nobody })).body.error).toMatch(/^Brand not found/);
        expect((await record({ userIdentifier }, { of: paused })).status).toBe(403);
        await get().set(poor, { streakBase: 26 });
        const broke = await record({ userIdentifier }, { of: poor });
        expect([broke.status, broke.body.details]).toEqual([
          500,
          { reason: 'insufficient_brand_balance', required: 26 },
        ]);
        const withKey = await record({ userIdentifier }, { of: poor, headers: bearer(poor) });
        expect(withKey.body.details.available).toBe(25);
        expect((await status(userIdentifier, '', poor)).totalStreakDays).toBe(0);
        await get().set(poor, { streakBase: 10, spendPerHour: 5 });
        const spent = await record({ userIdentifier }, { of: poor });
        expect([spent.status, spent.body.details.reason]).toEqual([429, 'spend_limit']);
        expectBothForms(spent);
      });

      test("without the key, where the brand wants it for events; pages of others' domains", async () => {
        const user = { userIdentifier: someone() };
        await get().set(open, { clientEvents: 'credential' });
        expect((await record(user, { of: open })).status).toBe(401);
        const keyed = { of: open, headers: bearer(open) };
        expect((await record(user, keyed)).status).toBe(200);
        await get().set(open, { clientEvents: 'open', directAddresses: 'credential' });
        const direct = { userIdentifier: '0x00000000000000000000000000000000000c0ffe' };
        expect((await record(direct, { of: open })).status).toBe(401);
        expect((await record(direct, keyed)).status).toBe(200);
        await get().set(open, { engagementWrites: 'credential' });
        const engaged = { userIdentifier: someone(), streakType: 'engagement' };
        expect((await record(engaged, { of: open })).status).toBe(401);
        const foreign = { of: open, headers: { origin: 'https://elsewhere.example' } };
        expect((await record({ userIdentifier: someone() }, foreign)).status).toBe(403);
        const own = { of: open, headers: { origin: 'https://www.open.example' } };
        expect((await record({ userIdentifier: someone() }, own)).status).toBe(200);
      });
    });
  },
  { clockStartMs: START_MS },
);
