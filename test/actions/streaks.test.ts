/** Streaks in the ledger: one check-in a day for any number of processes, and bonuses whose reward failed for good. */
import { eq, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { claimMilestone } from '../../src/actions/engagement/claim-milestone.ts';
import { readStreak, readStreakCalendar } from '../../src/actions/engagement/read-streaks.ts';
import { recordActivity } from '../../src/actions/engagement/record-activity.ts';
import type { StreakDeps } from '../../src/actions/engagement/streak-work.ts';
import type { Database } from '../../src/ledger/database/database.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { failRewards, markReleased } from '../../src/ledger/rewards/rewards.ts';
import { streaks } from '../../src/ledger/schema/engagement/user-progress.ts';
import { rewards } from '../../src/ledger/schema/rewards.ts';
import { saveAlias } from '../../src/ledger/wallets/aliases.ts';
import { createKeyedMutex } from '../../src/lib/mutex.ts';
import type { BrandId } from '../../src/rules/brands/brand.ts';
import {
  freshAddress,
  freshKey,
  patient,
  postgresMissing,
  startPostgres,
} from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The deps of one process. */
const processOf = (ledger: TestLedger, database: Database = ledger.database): StreakDeps => ({
  ...ledger,
  database,
  ownHosts: [],
  ownAddresses: new Set<string>(),
  triesMax: 10,
  typesMax: 20,
  inTurn: createKeyedMutex<BrandId>(),
  crash: () => {},
  nudgeWebhooks: () => {},
  payouts: { nudge: () => {} },
  progress: { waitFor: async () => undefined },
  answerWhen: 'sent',
  answerTimeoutMs: 0,
});

const requestOf = (brandId: BrandId) => ({
  brandId,
  userKey: `${freshKey('user')}@demo.example`,
  userAddress: undefined,
  platform: 'web',
  streakType: 'daily',
  writer: { keyOf: undefined, origin: undefined },
  // As `someBrand` names it.
  place: { domain: `${brandId.slice(-6)}.example`, metadata: {} },
});

const rewardsOf = (ledger: TestLedger, userKey: string) =>
  ledger.database.db.select().from(rewards).where(eq(rewards.userKey, userKey));

test.skipIf(postgresMissing())(
  '200 check-ins of a user at once, over the connections of two processes, are one',
  { timeout: 60_000 },
  async () => {
    const postgres = await startPostgres();
    const ledger = await openLedger(openPostgres(patient(postgres.url)));
    const second = openPostgres(patient(postgres.url));
    try {
      const { brandId } = await someBrand(ledger, {
        deposit: 1_000,
        streakPays: 'service',
        'streakMilestones.1': 100,
      });
      const request = requestOf(brandId);
      const processes = [processOf(ledger), processOf(ledger, second)];
      const ofEach = <T>(work: (deps: StreakDeps) => Promise<T>) =>
        Promise.all(Array.from({ length: 100 }, () => processes.map(work)).flat());
      const recorded = await ofEach((deps) => recordActivity(deps, request));
      expect(recorded.filter((one) => 'isNew' in one && one.isNew)).toHaveLength(1);
      expect(recorded.filter((one) => 'refusal' in one)).toEqual([]);
      expect((await rewardsOf(ledger, request.userKey)).map(({ amount }) => amount)).toEqual([10]);

      const claims = await ofEach((deps) => claimMilestone(deps, { ...request, milestoneDays: 1 }));
      expect(claims.filter((one) => 'bonus' in one)).toHaveLength(1);
      const refusals = claims.flatMap((one) => ('refusal' in one ? one.refusal.code : []));
      expect(new Set(refusals)).toEqual(new Set(['milestone_claimed']));
      const amounts = (await rewardsOf(ledger, request.userKey)).map(({ amount }) => amount);
      expect(amounts.sort()).toEqual([10, 100]);
    } finally {
      await second.close();
      await ledger.close();
      await postgres.stop();
    }
  },
);

describe.each([
  ['SQLite', undefined],
  ['Postgres', postgresMissing()],
] as const)('on %s', (kind, missing) => {
  test.skipIf(missing)('a bonus whose reward failed for good can be claimed again, once', async () => {
    const postgres = kind === 'Postgres' ? await startPostgres() : undefined;
    const ledger = await openLedger(...(postgres ? [openPostgres(postgres.url)] : []));
    try {
      const { brandId } = await someBrand(ledger, {
        deposit: 1_000,
        streakPays: 'service',
        'streakMilestones.1': 100,
      });
      const deps = processOf(ledger);
      const request = requestOf(brandId);
      const wish = { ...request, milestoneDays: 1 };
      await recordActivity(deps, request);
      const first = await claimMilestone(deps, wish);
      if (!('rewardId' in first) || !first.rewardId) throw new Error('no reward');
      const { db } = ledger.database;
      const [row] = await db.select().from(rewards).where(eq(rewards.id, first.rewardId));
      const sequence = row?.sequence ?? -1;
      await failRewards(db, { sequences: [sequence], failure: 'reverted' });
      expect(await claimMilestone(deps, wish)).toMatchObject({ refusal: { code: 'milestone_claimed' } });
      await markReleased(db, { sequence, nowMs: START_MS });
      expect((await readStreak(deps, request))?.unclaimedMilestones).toEqual([{ days: 1, bonus: 100 }]);
      const again = await claimMilestone(deps, wish);
      expect(again).toMatchObject({ days: 1, bonus: 100, rewardId: expect.any(String) });
      expect(again).not.toMatchObject({ rewardId: first.rewardId });
      expect(await claimMilestone(deps, wish)).toMatchObject({ refusal: { code: 'milestone_claimed' } });
    } finally {
      await ledger.close();
      await postgres?.stop();
    }
  });

  test.skipIf(missing)(
    'a year of active days is known, and what it was before this was written',
    async () => {
      const postgres = kind === 'Postgres' ? await startPostgres() : undefined;
      const ledger = await openLedger(...(postgres ? [openPostgres(postgres.url)] : []));
      try {
        const { brandId } = await someBrand(ledger, { timeZone: 'Asia/Tokyo' });
        const deps = processOf(ledger);
        const calendarOf = async (of: typeof request) => {
          const { today, activeDays } = (await readStreakCalendar(deps, of)) ?? {};
          return { today, activeDays };
        };
        const activeOn = async (of: typeof request, days: readonly number[]) => {
          for (const day of days) {
            ledger.clock.set(START_MS + day * DAY_MS);
            await recordActivity(deps, of);
          }
        };
        const request = requestOf(brandId);
        expect(await calendarOf(request)).toEqual({ today: '2030-01-01', activeDays: [] });
        await activeOn(request, [0, 1, 1, 5]);
        // Tokyo is nine hours ahead: there the next day has begun.
        ledger.clock.set(START_MS + 5 * DAY_MS + 15 * HOUR_MS);
        const firstDays = ['2030-01-06', '2030-01-02', '2030-01-01'];
        expect(await calendarOf(request)).toEqual({ today: '2030-01-07', activeDays: firstDays });
        // 53 weeks, the last day among them.
        await activeOn(request, [371]);
        expect((await calendarOf(request)).activeDays).toEqual(['2031-01-07', '2030-01-06', '2030-01-02']);
        await activeOn(request, [371 + 5_000]);
        expect((await calendarOf(request)).activeDays).toEqual(['2044-09-15']);

        // A program that did not know of this wrote the next day.
        const { db } = ledger.database;
        const ofUser = eq(streaks.userKey, request.userKey);
        await activeOn(request, [5_372]);
        await db
          .update(streaks)
          .set({ lastDay: sql`${streaks.lastDay} + 1` })
          .where(ofUser);
        const three = ['2044-09-17', '2044-09-16', '2044-09-15'];
        expect((await calendarOf(request)).activeDays).toEqual(three);
        await activeOn(request, [5_374]);
        expect((await calendarOf(request)).activeDays).toEqual(['2044-09-18', ...three]);
        await db.update(streaks).set({ daysSeen: '' }).where(ofUser);
        expect((await calendarOf(request)).activeDays).toEqual(['2044-09-18']);

        // Two names of one person: the days of both.
        const other = requestOf(brandId);
        await activeOn(other, [5_376]);
        await saveAlias(db, {
          brandId,
          aliasKey: other.userKey,
          userKey: request.userKey,
          createdAt: START_MS,
        });
        const both = ['2044-09-20', '2044-09-18'];
        expect((await calendarOf(request)).activeDays).toEqual(both);
        expect((await calendarOf(other)).activeDays).toEqual(both);
      } finally {
        await ledger.close();
        await postgres?.stop();
      }
    },
  );
});

describe('a check-in that the service pays', () => {
  test('takes the last RWT of its brand, and is refused with what is missing where there is less', async () => {
    const ledger = await openLedger();
    const { brandId } = await someBrand(ledger, { deposit: 19, streakPays: 'service' });
    const deps = processOf(ledger);
    expect(await recordActivity(deps, requestOf(brandId))).toMatchObject({ reward: { final: 10 } });
    const request = requestOf(brandId);
    expect(await recordActivity(deps, request)).toEqual({
      refusal: { code: 'insufficient_brand_balance', available: 9, required: 10 },
    });
    expect(await rewardsOf(ledger, request.userKey)).toEqual([]);
    const { brandId: exact } = await someBrand(ledger, { deposit: 10, streakPays: 'service' });
    expect(await recordActivity(deps, requestOf(exact))).toMatchObject({ reward: { final: 10 } });
    await ledger.close();
  });

  test('obeys the spend limits of its brand, and pays none of the service’s own accounts', async () => {
    const ledger = await openLedger();
    const { brandId } = await someBrand(ledger, { deposit: 100, spendPerDay: 15, streakPays: 'service' });
    const ours = freshAddress();
    const deps = { ...processOf(ledger), ownAddresses: new Set<string>([ours]) };
    const toUs = { ...requestOf(brandId), userKey: ours, userAddress: ours };
    expect(await recordActivity(deps, toUs)).toEqual({ refusal: { code: 'paid_to_ourselves' } });
    expect(await recordActivity(deps, requestOf(brandId))).toMatchObject({ reward: { final: 10 } });
    expect(await recordActivity(deps, requestOf(brandId))).toMatchObject({
      refusal: { code: expect.stringMatching(/spend/) },
    });
    await ledger.close();
  });
});
