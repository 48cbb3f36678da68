/** Who leads a brand's leaderboard now, and what they had on the boards before. */
import { beforeAll, expect, test } from 'vitest';
import { readBoardHistory } from '../../src/actions/engagement/read-board-history.ts';
import { closeOldBoards } from '../../src/ledger/engagement/boards.ts';
import { countActivity } from '../../src/ledger/engagement/count-activity.ts';
import { onEveryDatabase } from '../kits/databases/databases.ts';
import { openLedger, START_MS, someBrand, type TestLedger } from './ledger.ts';

const WEEK_MS = 7 * 86_400_000;
const week = (number: number) => START_MS + number * WEEK_MS;

onEveryDatabase(
  ({ kit }) => {
    let ledger: TestLedger;
    beforeAll(async () => {
      ledger = await openLedger(kit().database);
    });
    const earned = (brandId: `0x${string}`, user: string, atMs: number, rwtEarned: number) =>
      ledger.database.atomically((tx) =>
        countActivity(tx, [
          {
            brandId,
            atMs,
            timeZone: 'UTC',
            userKey: `${user}@people.example`,
            rwtEarned,
            claims: 1,
          },
        ]),
      );
    const read = async (brand: string, wish: object = {}) => {
      const found = await readBoardHistory(ledger, {
        brand,
        period: 'week',
        metric: 'rwt_earned',
        users: 2,
        ...wish,
      });
      if ('refusal' in found) throw new Error(JSON.stringify(found.refusal));
      return found;
    };

    test('a brand without boards has nobody on them', async () => {
      const { brandId } = await someBrand(ledger);
      expect(await read(brandId)).toMatchObject({ boards: [], users: [] });
    });

    test('whoever leads the newest board comes first, with each board before it; nobody else is named', async () => {
      const { brandId, domain } = await someBrand(ledger);
      const { brandId: other } = await someBrand(ledger);
      await earned(brandId, 'alice', week(0), 50);
      await earned(brandId, 'bob', week(1), 30);
      await earned(brandId, 'carol', week(1), 99);
      await earned(brandId, 'bob', week(2), 7);
      await earned(brandId, 'alice', week(2), 5);
      await earned(brandId, 'dave', week(2), 1);
      await earned(other, 'alice', week(2), 1_000);
      const { boards, users } = await read(domain);
      const beginnings = boards.map(({ startsAt }) => Date.parse(startsAt));
      expect(beginnings.map((at, place) => at - (beginnings[place - 1] ?? at - WEEK_MS))).toEqual([
        WEEK_MS,
        WEEK_MS,
        WEEK_MS,
      ]);
      expect(users).toEqual([
        { user: 'bob@people.example', values: [0, 30, 7] },
        { user: 'alice@people.example', values: [50, 0, 5] },
      ]);
      expect((await read(domain, { metric: 'claims', users: 3 })).users).toContainEqual({
        user: 'bob@people.example',
        values: [0, 1, 1],
      });
      expect((await read(domain, { period: 'month', users: 9 })).users[0]).toEqual({
        user: 'carol@people.example',
        values: [99],
      });
    });

    test('nine weeks at most, and none whose scores are gone', async () => {
      const { brandId } = await someBrand(ledger);
      for (let number = 0; number < 12; number++) await earned(brandId, 'alice', week(number), number + 1);
      expect((await read(brandId)).users[0]?.values).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
      await ledger.database.atomically((tx) => closeOldBoards(tx, { beforeMs: week(9), limit: 1_000 }));
      // A week that has ended by then is gone; START_MS is no Monday.
      expect((await read(brandId)).users[0]?.values).toEqual([10, 11, 12]);
    });

    test('a brand that nobody knows is refused', async () => {
      expect(
        await readBoardHistory(ledger, {
          brand: 'nobody.example',
          period: 'week',
          metric: 'claims',
          users: 4,
        }),
      ).toEqual({ refusal: { code: 'brand_not_found', name: 'nobody.example' } });
    });
  },
  { kinds: ['SQLite in memory', 'Postgres'], migrated: false },
);
