/** Reports of what users did elsewhere: who may make them, what they count, and what users and leaderboards show of them. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeBrand, changeRule } from '../../src/actions/brands/manage-brands.ts';
import { admitWrite, type Writer } from '../../src/actions/engagement/admit-write.ts';
import {
  rankOfUser,
  readLeaderboard,
  type WantedLeaderboard,
} from '../../src/actions/engagement/read-leaderboard.ts';
import { readUserStats, type StatsReport, updateStats } from '../../src/actions/engagement/user-stats.ts';
import { countActivity } from '../../src/ledger/engagement/count-activity.ts';
import { saveStreak } from '../../src/ledger/engagement/streaks.ts';
import { recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { brands } from '../../src/ledger/schema/brands.ts';
import { leaderboardReports } from '../../src/ledger/schema/engagement/leaderboards.ts';
import { redemptions } from '../../src/ledger/schema/engagement/perks.ts';
import { transactions } from '../../src/ledger/schema/transactions.ts';
import { storeTransaction } from '../../src/ledger/transactions/transactions.ts';
import type { BrandId } from '../../src/rules/brands/brand.ts';
import { freshAddress, freshHash, freshKey } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const DAY_MS = 86_400_000;
const ownHosts = ['rewards.example'];
const nobody: Writer = { keyOf: undefined, origin: undefined };

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());
const db = () => ledger.database.db;
const someUser = () => `${freshKey('user')}@people.example`;

const report = (
  of: Partial<StatsReport> & Pick<StatsReport, 'brandId' | 'userKey'>,
  writer: Writer = nobody,
) =>
  updateStats(
    { ...ledger, ownHosts },
    {
      writer,
      report: {
        platform: undefined,
        rwtAmount: 0,
        claimType: undefined,
        count: 1,
        displayName: undefined,
        ...of,
      },
    },
  );

const board = (of: Partial<WantedLeaderboard> & Pick<WantedLeaderboard, 'brandId'>) =>
  readLeaderboard(ledger, {
    metric: 'rwt_earned',
    period: 'all',
    platform: undefined,
    limit: 10,
    userKey: undefined,
    withBrandKey: false,
    ...of,
  });
/** What the board of all platforms has of each user, by metric. */
const scores = async (brandId: BrandId, metric: WantedLeaderboard['metric'], platform?: string) =>
  (await board({ brandId, metric, platform }))?.entries.map((one) => [one.userId, one.value]);

const token = { balanceOf: async (address: string) => BigInt(address.length) } as never;
const stats = (of: { brandId: BrandId; userKey: string; platform?: string; userAddress?: BrandId }) =>
  readUserStats({ ...ledger, token }, { userAddress: undefined, platform: undefined, ...of });

describe('a write is admitted', () => {
  const admit = (brandId: BrandId, writer: Partial<Writer>) =>
    admitWrite(db(), { brandId, writer: { ...nobody, ...writer }, ownHosts });

  test('for brands that exist', async () => {
    const brandId = freshAddress();
    expect(await admit(brandId, { keyOf: brandId })).toEqual({
      refusal: { code: 'brand_not_found', brandId },
    });
  });

  test("where the brand leaves it open, from anywhere but other people's pages", async () => {
    const { brandId, domain } = await someBrand(ledger, { engagementWrites: 'open' });
    for (const origin of [
      ...[undefined, `https://${domain}`, `https://www.${domain}`, 'https://rewards.example'],
    ])
      expect(await admit(brandId, { origin })).toMatchObject({ brand: { brandId }, withBrandKey: false });
    for (const origin of ['https://elsewhere.example', 'null', `https://${domain}.elsewhere.example`])
      expect(await admit(brandId, { origin })).toEqual({
        refusal: { code: 'origin_not_allowed', brandId, origin },
      });
    // Another brand's key is no key of this one.
    const keyOf = (await someBrand(ledger)).brandId;
    expect(await admit(brandId, { keyOf })).toMatchObject({ withBrandKey: false });
    expect(await admit(brandId, { keyOf, origin: 'https://elsewhere.example' })).toMatchObject({
      refusal: { code: 'origin_not_allowed' },
    });
  });

  test("with the brand's own key, from anywhere; where the brand asks for it, with nothing else", async () => {
    const { brandId, domain } = await someBrand(ledger, { engagementWrites: 'credential' });
    const { brandId: keyOf } = await someBrand(ledger);
    for (const origin of [undefined, 'https://elsewhere.example'])
      expect(await admit(brandId, { keyOf: brandId, origin })).toMatchObject({
        brand: { brandId },
        withBrandKey: true,
      });
    for (const writer of [{}, { keyOf }, { origin: `https://${domain}` }])
      expect(await admit(brandId, writer)).toEqual({ refusal: { code: 'brand_key_required', brandId } });
  });
});

describe('a report', () => {
  const reportsOf = (userKey: string) =>
    db().select().from(leaderboardReports).where(eq(leaderboardReports.userKey, userKey));

  test('that is refused changes nothing', async () => {
    const { brandId } = await someBrand(ledger, { engagementWrites: 'credential' });
    const userKey = someUser();
    expect(await report({ brandId, userKey, rwtAmount: 5, claimType: 'message' })).toEqual({
      refusal: { code: 'brand_key_required', brandId },
    });
    expect(await reportsOf(userKey)).toEqual([]);
    expect(await board({ brandId })).toMatchObject({ total: 0, entries: [] });
    expect((await stats({ brandId, userKey }))?.activity).toMatchObject({ messages: 0 });
  });

  test('of RWT counts them with a row of their own, as a claim and an activity', async () => {
    const { brandId } = await someBrand(ledger);
    const [anonymous, user] = [someUser(), someUser()];
    expect(await report({ brandId, userKey: anonymous, rwtAmount: 40 })).toEqual({ counted: true });
    expect(
      await report(
        { brandId, userKey: user, rwtAmount: 7, claimType: 'quiz', platform: 'slack' },
        { ...nobody, keyOf: brandId },
      ),
    ).toEqual({ counted: true });
    const row = { id: expect.stringMatching(/^rep_[0-9a-f-]{36}$/), brandId, createdAt: START_MS };
    expect(await reportsOf(anonymous)).toEqual([
      { ...row, userKey: anonymous, platform: '', amount: 40, claimType: null, withBrandKey: false },
    ]);
    expect(await reportsOf(user)).toEqual([
      { ...row, userKey: user, platform: 'slack', amount: 7, claimType: 'quiz', withBrandKey: true },
    ]);
    const both = (one: number, other: number) => [
      [anonymous, one],
      [user, other],
    ];
    expect(await scores(brandId, 'rwt_earned')).toEqual(both(40, 7));
    expect(new Map((await scores(brandId, 'claims')) as never)).toEqual(new Map(both(1, 1) as never));
    expect(new Map((await scores(brandId, 'activity')) as never)).toEqual(new Map(both(1, 1) as never));
    expect(await scores(brandId, 'rwt_earned', 'slack')).toEqual([[user, 7]]);
    expect(await scores(brandId, 'rwt_earned', 'web')).toEqual([]);
  });

  test.each<[string, Partial<StatsReport>]>([
    ['of no RWT', { rwtAmount: 0, claimType: 'quiz' }],
    ['of what a rule of the brand pays', { rwtAmount: 9, claimType: 'visit' }],
    ['of a check-in, which the service pays', { rwtAmount: 9, claimType: 'streak_checkin' }],
    ['of a milestone, which the service pays', { rwtAmount: 9, claimType: 'streak_milestone' }],
  ])('%s counts as an activity alone', async (_, of) => {
    const { brandId } = await someBrand(ledger);
    await changeRule(ledger, { name: brandId, eventType: 'visit' }, { reward: 10 });
    const userKey = someUser();
    expect(await report({ brandId, userKey, ...of })).toEqual({ counted: false });
    expect(await reportsOf(userKey)).toEqual([]);
    expect(await scores(brandId, 'activity')).toEqual([[userKey, 1]]);
    expect([await scores(brandId, 'rwt_earned'), await scores(brandId, 'claims')]).toEqual([[], []]);
  });

  test('of what only another brand pays is counted', async () => {
    const [{ brandId: payer }, { brandId }] = [await someBrand(ledger), await someBrand(ledger)];
    await changeRule(ledger, { name: payer, eventType: 'visit' }, { reward: 10 });
    const of = { brandId, userKey: someUser(), rwtAmount: 9, claimType: 'visit' };
    expect(await report(of)).toEqual({ counted: true });
  });

  test('of chat activity adds what the user did, each kind by itself', async () => {
    const { brandId } = await someBrand(ledger);
    const userKey = someUser();
    for (const [claimType, count] of [
      ['message', 3],
      ['messages', 4],
      ['voice', 30],
      ['reaction', 2],
      ['quiz', 50],
      [undefined, 60],
    ] as const)
      await report({ brandId, userKey, claimType, count });
    const activity = { messages: 7, voiceMinutes: 30, reactions: 2 };
    expect((await stats({ brandId, userKey }))?.activity).toEqual(activity);
    expect(await scores(brandId, 'activity')).toEqual([[userKey, 6]]);
  });

  test("counts in the week of the brand's own time zone", async () => {
    // 1 January 2030 is a Tuesday; in Kiritimati it is 14 hours further than in UTC.
    const sundayEvening = START_MS - 2 * DAY_MS + 20 * 3_600_000;
    const boards = async (timeZone?: string) => {
      const { brandId } = await someBrand(ledger, { ...(timeZone && { timeZone }) });
      const userKey = someUser();
      ledger.clock.set(sundayEvening);
      await report({ brandId, userKey, rwtAmount: 1 });
      ledger.clock.set(START_MS);
      return (await board({ brandId, period: 'week' }))?.total;
    };
    expect([await boards(), await boards('Pacific/Kiritimati')]).toEqual([0, 1]);
  });

  test('counts by UTC where the brand was made before there were time zones', async () => {
    const { brandId, ...brand } = await someBrand(ledger);
    const { timeZone: _, ...profile } = brand.profile;
    await db().update(brands).set({ profile }).where(eq(brands.brandId, brandId));
    expect(await report({ brandId, userKey: someUser(), rwtAmount: 1 })).toEqual({ counted: true });
    expect((await board({ brandId, period: 'week' }))?.total).toBe(1);
  });

  test('names the user, and the platform that is told last; without one it is the web', async () => {
    const { brandId } = await someBrand(ledger);
    const userKey = someUser();
    const shown = async () => (await board({ brandId, userKey }))?.own;
    await report({ brandId, userKey, rwtAmount: 1, displayName: 'Zoë' });
    expect(await shown()).toMatchObject({ displayName: 'Zoë', username: 'Zoë', platform: 'web' });
    await report({ brandId, userKey, platform: 'discord' });
    expect(await shown()).toMatchObject({ displayName: 'Zoë', platform: 'discord' });
  });
});

describe('a user without any report', () => {
  test('is called by the e-mail, on the web', async () => {
    const { brandId } = await someBrand(ledger);
    const userKey = someUser();
    const [username] = userKey.split('@');
    const what = { brandId, userKey, atMs: START_MS, timeZone: 'UTC', rwtEarned: 5 };
    await ledger.database.atomically((tx) => countActivity(tx, [what]));
    expect((await board({ brandId }))?.entries).toEqual([
      {
        rank: 1,
        userIdentifier: userKey,
        userId: userKey,
        username,
        displayName: username,
        platform: 'web',
        value: 5,
        formattedValue: '5 RWT',
        change: 0,
      },
    ]);
    await changeBrand(ledger, brandId, { leaderboardUsers: 'masked' });
    expect((await board({ brandId }))?.entries).toMatchObject([{ username: 'u***', platform: 'web' }]);
  });
});

describe('what a user has at a brand', () => {
  test('is nothing at all where the brand does not exist, and zeros for an unknown user', async () => {
    const userKey = someUser();
    expect(await stats({ brandId: freshAddress(), userKey })).toBeUndefined();
    const { brandId } = await someBrand(ledger);
    expect(await stats({ brandId, userKey })).toEqual({
      otherWallets: [],
      balance: 0n,
      lifetime: { earned: 0, spent: 0, claims: 0 },
      streak: { current: 0, longest: 0 },
      activity: { messages: 0, voiceMinutes: 0, reactions: 0 },
      rank: { server: 0, global: 0 },
    });
  });

  test('is what was earned there, spent on perks in blocks, and the days in a row', async () => {
    const { brandId } = await someBrand(ledger);
    const { brandId: elsewhere } = await someBrand(ledger);
    const userKey = someUser();
    const userAddress = freshAddress();
    for (const [sequence, of, amount] of [
      [1, brandId, 20],
      [2, brandId, 5],
      [3, elsewhere, 1_000],
    ] as const)
      await recordRewards(db(), [
        {
          sequence,
          id: freshKey('reward'),
          brandId: of,
          eventType: 'visit',
          userKey,
          amount,
          wallet: userAddress,
          walletCreated: false,
          metadata: {},
          createdAt: START_MS,
        },
      ]);
    for (const [cost, outcome] of [
      [60, 'done'],
      [7, 'reverted'],
    ] as const) {
      const id = freshKey('transaction');
      await storeTransaction(db(), {
        id,
        lane: freshAddress(),
        nonce: 0,
        purpose: 'redeem',
        epoch: 1,
        hash: freshHash(),
        raw: '0x02c0',
        maxFeeWei: 1n,
        priorityFeeWei: 1n,
        createdAt: START_MS,
      });
      await db().update(transactions).set({ status: 'included', outcome }).where(eq(transactions.id, id));
      await db()
        .insert(redemptions)
        .values({
          id: randomUUID(),
          key: freshHash(),
          brandId,
          perkId: randomUUID(),
          tokenId: 1,
          userKey,
          wallet: userAddress,
          cost,
          confirmationCode: freshKey('CODE'),
          createdAt: START_MS,
          transactionId: id,
        });
    }
    const key = { brandId, userKey };
    const streak = {
      current: 2,
      longest: 9,
      totalDays: 30,
      lastAt: START_MS,
      graceUsed: false,
      daysSeen: '',
    };
    const lastDay = START_MS / DAY_MS;
    await saveStreak(db(), { ...key, streakType: 'daily' }, { ...streak, lastDay });
    await saveStreak(db(), { ...key, streakType: 'gym' }, { ...streak, current: 70, longest: 70, lastDay });
    expect(await stats({ ...key, userAddress })).toMatchObject({
      balance: 42n,
      lifetime: { earned: 25, spent: 60, claims: 2 },
      streak: { current: 2, longest: 9 },
    });
  });

  test("is a place on the platform's board, and one among all of the brand's users", async () => {
    const { brandId } = await someBrand(ledger);
    const [first, second, third] = [someUser(), someUser(), someUser()];
    await report({ brandId, userKey: first, rwtAmount: 30 });
    await report({ brandId, userKey: second, rwtAmount: 20, platform: 'discord' });
    await report({ brandId, userKey: third, rwtAmount: 20, platform: 'discord' });
    await report({ brandId, userKey: third, rwtAmount: 3, platform: 'slack' });
    const rank = async (userKey: string, platform?: string) =>
      (await stats({ brandId, userKey, platform }))?.rank;
    expect(await rank(first)).toEqual({ server: 1, global: 1 });
    expect(await rank(first, 'discord')).toEqual({ server: 0, global: 1 });
    expect(await rank(second, 'discord')).toEqual({ server: 1, global: 3 });
    expect(await rank(third, 'discord')).toEqual({ server: 1, global: 2 });
    expect(await rank(third, 'telegram')).toEqual({ server: 0, global: 2 });
    const { brandId: quiet } = await someBrand(ledger);
    const of = { brandId: quiet, userKey: first, platform: undefined };
    expect(await rankOfUser(db(), of)).toEqual({ server: 0, global: 0 });
  });
});

describe('a leaderboard', () => {
  const dayLater = async (brandId: BrandId, of: [string, number][], days: number) => {
    ledger.clock.set(START_MS + days * DAY_MS);
    for (const [userKey, rwtAmount] of of) await report({ brandId, userKey, rwtAmount });
  };

  test('is none where the brand does not exist, and empty before anything counts', async () => {
    expect(await board({ brandId: freshAddress() })).toBeUndefined();
    const { brandId } = await someBrand(ledger);
    expect(await board({ brandId, userKey: someUser() })).toEqual({
      entries: [],
      total: 0,
      own: undefined,
      nowMs: START_MS,
    });
  });

  test('tells the places gained since the board before, and 0 to who was not on it', async () => {
    const { brandId } = await someBrand(ledger);
    const [up, down, fresh] = [someUser(), someUser(), someUser()];
    try {
      await dayLater(
        brandId,
        [
          [up, 1],
          [down, 2],
        ],
        0,
      );
      const before = await board({ brandId, period: 'week' });
      expect(before?.entries.map(({ change }) => change)).toEqual([0, 0]);
      await dayLater(
        brandId,
        [
          [up, 9],
          [down, 2],
          [fresh, 5],
        ],
        7,
      );
      const now = await board({ brandId, period: 'week', limit: 2, userKey: down });
      expect(now?.entries).toMatchObject([
        { userId: up, rank: 1, value: 9, formattedValue: '9 RWT', change: 1 },
        { userId: fresh, rank: 2, change: 0 },
      ]);
      expect(now?.own).toMatchObject({ userId: down, rank: 3, change: -2 });
      expect([now?.total, now?.nowMs]).toEqual([3, START_MS + 7 * DAY_MS]);
      expect((await board({ brandId, period: 'week', userKey: someUser() }))?.own).toBeUndefined();
      // A board of other users says nothing of these.
      const ever = await board({ brandId });
      expect(ever?.entries.map(({ change }) => change)).toEqual([0, 0, 0]);
    } finally {
      ledger.clock.set(START_MS);
    }
  });

  test('shows e-mails as the brand wishes: masked to strangers, in full to its server and to their owners', async () => {
    const { brandId } = await someBrand(ledger);
    const [named, unnamed] = [someUser(), someUser()];
    await report({ brandId, userKey: named, rwtAmount: 2, displayName: 'Zoë', platform: 'slack' });
    await report({ brandId, userKey: unnamed, rwtAmount: 1 });
    const shown = async (of: Partial<WantedLeaderboard> = {}) =>
      (await board({ brandId, ...of }))?.entries.map((one) => [
        ...[one.userIdentifier, one.userId, one.username, one.displayName, one.platform],
      ]);
    const hidden = 'u***@people.example';
    const name = unnamed.split('@')[0] ?? '';
    const own = [unnamed, unnamed, name, name, 'web'];
    const masked = [hidden, hidden, 'u***', 'u***', 'web'];
    const open = [[named, named, 'Zoë', 'Zoë', 'slack'], own];
    await changeBrand(ledger, brandId, { leaderboardUsers: 'shown' });
    expect(await shown()).toEqual(open);
    await changeBrand(ledger, brandId, { leaderboardUsers: 'masked' });
    const zoe = [hidden, hidden, 'Zoë', 'Zoë', 'slack'];
    expect(await shown()).toEqual([zoe, masked]);
    expect(await shown({ userKey: unnamed })).toEqual([zoe, own]);
    expect(await shown({ withBrandKey: true })).toEqual(open);
    // On a platform's board that platform is shown.
    expect(await shown({ platform: 'slack', withBrandKey: true })).toEqual([open[0]]);
  });
});
