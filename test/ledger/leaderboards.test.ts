import { describe, expect, test } from 'vitest';
import { boardAt, closeOldBoards } from '../../src/ledger/engagement/boards.ts';
import { type Activity, countActivity } from '../../src/ledger/engagement/count-activity.ts';
import { firstOf, ranksOf, scoresOf, usersOn } from '../../src/ledger/engagement/ranks.ts';
import type { BoardMetric } from '../../src/rules/engagement/rank-tree.ts';
import { freshAddress, onEveryDatabase, outcomes } from '../kits/databases/databases.ts';
import { seededChance } from '../kits/run/seeded-chance.ts';

const NOW_MS = Date.UTC(2026, 10, 18, 12);
const DAY_MS = 24 * 60 * 60_000;

onEveryDatabase(({ kit }) => {
  const brand = () => {
    const brandId = freshAddress();
    const did = (userKey: string, what: Partial<Activity> = {}): Activity => ({
      brandId,
      userKey,
      atMs: NOW_MS,
      timeZone: 'UTC',
      ...what,
    });
    const count = (...activities: Activity[]) =>
      kit().database.atomically((tx) => countActivity(tx, activities));
    const board = async (
      what: { period?: 'week' | 'month' | 'all'; platform?: string; atMs?: number } = {},
    ) => {
      const { period = 'week', platform = '', atMs = NOW_MS } = what;
      const found = await boardAt(kit().database.db, { brandId, period, platform, atMs });
      if (!found) throw new Error(`no ${period} board`);
      return found;
    };
    return { brandId, did, count, board };
  };

  describe('leaderboards', () => {
    test('ranks are those of a recount, whatever two processes count at once', async () => {
      const { database, other } = kit();
      const { did, board } = brand();
      const chance = seededChance(11);
      const users = Array.from({ length: 60 }, (_, place) => `user${place}@example.com`);
      const some = () =>
        Array.from({ length: 12 }, () =>
          did(chance.pick(users), {
            rwtEarned: Math.floor(chance.unit() ** 4 * 1_000_000),
            claims: 1,
            streak: chance.below(90),
          }),
        );
      const rounds = Array.from({ length: 40 }, some);
      const { errors } = await outcomes(
        rounds.map((round, place) =>
          (place % 2 ? database : other).atomically((tx) => countActivity(tx, round)),
        ),
      );
      expect(errors).toEqual([]);

      const recount = new Map<string, Record<BoardMetric, number>>();
      for (const { userKey, rwtEarned = 0, streak = 0 } of rounds.flat()) {
        const sums = recount.get(userKey) ?? { rwt_earned: 0, claims: 0, activity: 0, streak: 0 };
        recount.set(userKey, {
          rwt_earned: sums.rwt_earned + rwtEarned,
          claims: sums.claims + 1,
          activity: 0,
          streak: Math.max(sums.streak, streak),
        });
      }
      const { id: boardId } = await board();
      for (const metric of ['rwt_earned', 'claims', 'streak', 'activity'] as const) {
        const scores = [...recount].map(([userKey, sums]) => ({ userKey, score: sums[metric] }));
        const counted = scores.filter(({ score }) => score > 0);
        const stored = await scoresOf(database.db, { boardId, metric, userKeys: users });
        expect([...stored].sort()).toEqual(counted.map(({ userKey, score }) => [userKey, score]).sort());
        expect(await usersOn(database.db, { boardId, metric })).toBe(counted.length);
        const ranks = await ranksOf(database.db, { boardId, metric, scores: [...stored.values()] });
        const rankByCounting = (score: number) => 1 + counted.filter((one) => one.score > score).length;
        for (const { score } of counted) expect(ranks.get(score)).toBe(rankByCounting(score));
        const first = await firstOf(database.db, { boardId, metric, limit: 10 });
        const highest = counted.map(({ score }) => score).sort((a, b) => b - a);
        expect(first.map(({ score }) => score)).toEqual(highest.slice(0, 10));
      }
    });

    test('of equal scores, the users whose keys come last are among the first, however many have them', async () => {
      const { did, count, board } = brand();
      const scores = [...Array<number>(300).fill(5), 9, 9, 9, ...Array<number>(40).fill(1)];
      const users = scores.map((score, place) => ({
        userKey: `user${String((place * 37) % scores.length).padStart(3, '0')}`,
        score,
      }));
      await count(...users.map(({ userKey, score }) => did(userKey, { rwtEarned: score })));
      const sorted = users.sort((a, b) => b.score - a.score || (a.userKey < b.userKey ? 1 : -1));
      const ranking = { boardId: (await board()).id, metric: 'rwt_earned' as const };
      for (const limit of [1, 2, 3, 10, 303, 320, 343, 400])
        expect(await firstOf(kit().database.db, { ...ranking, limit })).toEqual(sorted.slice(0, limit));
    });

    test('scores far apart, up to the largest whole number, have their ranks', async () => {
      const { did, count, board } = brand();
      const scores = [1, 63, 64, 65, 4_095, 4_096, 2 ** 31, 2 ** 42 - 1, Number.MAX_SAFE_INTEGER];
      await count(...scores.map((rwtEarned) => did(`user${rwtEarned}`, { rwtEarned })));
      const { id: boardId } = await board();
      const ranks = await ranksOf(kit().database.db, { boardId, metric: 'rwt_earned', scores });
      expect(scores.map((score) => ranks.get(score))).toEqual(
        scores.map((_, place) => scores.length - place),
      );
    });

    test('a week begins on Monday and a month on its first, in the zone of the brand', async () => {
      const { did, count, board } = brand();
      const timeZone = 'Europe/Berlin';
      // Berlin's clocks go back on the last Sunday of October: that week has 169 hours.
      const sunday = Date.UTC(2026, 9, 25, 22, 59);
      await count(did('alice', { atMs: sunday, timeZone, claims: 1 }));
      await count(did('alice', { atMs: sunday + 60_000, timeZone, claims: 1 }));
      const week = await board({ atMs: sunday });
      expect(new Date(week.startsAt).toISOString()).toBe('2026-10-18T22:00:00.000Z');
      expect(new Date(week.endsAt).toISOString()).toBe('2026-10-25T23:00:00.000Z');
      expect((await board({ atMs: sunday + 60_000 })).startsAt).toBe(week.endsAt);
      const month = await board({ period: 'month', atMs: sunday });
      expect(new Date(month.startsAt).toISOString()).toBe('2026-09-30T22:00:00.000Z');
      expect(new Date(month.endsAt).toISOString()).toBe('2026-10-31T23:00:00.000Z');
      const { id: boardId } = await board({ period: 'all' });
      const scores = await scoresOf(kit().database.db, { boardId, metric: 'claims', userKeys: ['alice'] });
      expect([...scores]).toEqual([['alice', 2]]);
    });

    test('another time zone leaves the week that is under way as it is, and no moment is counted twice', async () => {
      const { did, count, board } = brand();
      await count(did('alice', { claims: 1 }));
      const before = await board();
      await count(did('alice', { claims: 1, timeZone: 'Pacific/Auckland' }));
      expect(await board()).toEqual(before);
      await count(did('alice', { atMs: NOW_MS + 7 * DAY_MS, claims: 1, timeZone: 'Pacific/Auckland' }));
      const next = await board({ atMs: NOW_MS + 7 * DAY_MS });
      expect(next.startsAt).toBe(before.endsAt);
      expect(new Date(next.endsAt).toISOString()).toBe('2026-11-29T11:00:00.000Z');
    });

    test('weeks that ended long ago are deleted in pieces, and nothing is counted on them again', async () => {
      const { database } = kit();
      const { did, count, board } = brand();
      const users = Array.from({ length: 5 }, (_, place) => `user${place}`);
      await count(...users.map((user) => did(user, { claims: 1 })));
      await count(did('user0', { claims: 1, atMs: NOW_MS + 70 * DAY_MS }));
      const { id: boardId } = await board();
      const month = await board({ period: 'month' });
      const close = () =>
        database.atomically((tx) => closeOldBoards(tx, { beforeMs: NOW_MS + 60 * DAY_MS, limit: 3 }));
      // Boards of the tests before are among them.
      for (let turns = 0; (await close()) > 0; turns++) expect(turns).toBeLessThan(1_000);
      await count(did('user1', { claims: 1 }));
      for (const id of [boardId, month.id]) {
        const left = await scoresOf(database.db, { boardId: id, metric: 'claims', userKeys: users });
        expect([...left]).toEqual([]);
        expect(await usersOn(database.db, { boardId: id, metric: 'claims' })).toBe(0);
      }
      const ever = await board({ period: 'all' });
      expect(await usersOn(database.db, { boardId: ever.id, metric: 'claims' })).toBe(5);
      expect(await firstOf(database.db, { boardId: ever.id, metric: 'claims', limit: 2 })).toEqual([
        { userKey: 'user1', score: 2 },
        { userKey: 'user0', score: 2 },
      ]);
    });

    test('a platform has boards of its own, unknown names up to twenty', async () => {
      const { did, count, board } = brand();
      await count(did('alice', { activity: 1, platform: 'discord' }), did('bob', { activity: 2 }));
      const names = Array.from({ length: 25 }, (_, place) => `site${place}`);
      for (const platform of names) await count(did('carol', { activity: 1, platform }));
      const everywhere = await board();
      const first = await firstOf(kit().database.db, {
        boardId: everywhere.id,
        metric: 'activity',
        limit: 10,
      });
      expect(first).toEqual([
        { userKey: 'carol', score: 25 },
        { userKey: 'bob', score: 2 },
        { userKey: 'alice', score: 1 },
      ]);
      const { id } = await board({ platform: 'discord' });
      expect(await usersOn(kit().database.db, { boardId: id, metric: 'activity' })).toBe(1);
      await board({ platform: 'site19' });
      await expect(board({ platform: 'site20' })).rejects.toThrow('no week board');
    });
  });
});
