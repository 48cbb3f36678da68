/** What a brand's spend limits count, and when it is given back: each window of each brand for itself. */
import { expect, test } from 'vitest';
import {
  forgetSpending,
  giveBackSpending,
  readSpending,
  takeSpending,
} from '../../src/ledger/rewards/spending.ts';
import type { SpendLimit, SpendSpan } from '../../src/rules/events/spend-limit.ts';
import { freshAddress, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOURLY: SpendLimit = { span: 'hour', limit: 100 };
const DAILY: SpendLimit = { span: 'day', limit: 1_000 };

onEveryDatabase(({ kit }) => {
  const take = (brandId: `0x${string}`, amount: number, { nowMs = NOW_MS, of = HOURLY } = {}) =>
    kit().database.atomically((tx) => takeSpending(tx, { ...of, brandId, amount, nowMs }));
  const windows = async (brandId: `0x${string}`, nowMs = NOW_MS, limits = [HOURLY, DAILY]) => {
    const read = await readSpending(kit().database.db, { brands: [{ brandId, limits }], nowMs });
    return (read.get(brandId) ?? []).map(({ spent, endsAtMs }) => [spent, endsAtMs - NOW_MS]);
  };

  test('counts up to the limit and not one more, each brand and each span for itself', async () => {
    const [brandId, other] = [freshAddress(), freshAddress()];
    expect(await take(brandId, 101)).toBe(false);
    expect(await take(brandId, 60)).toBe(true);
    expect(await take(brandId, 41)).toBe(false);
    expect(await take(brandId, 40)).toBe(true);
    expect(await take(brandId, 1)).toBe(false);
    expect(await take(brandId, 300, { of: DAILY })).toBe(true);
    expect(await take(other, 100)).toBe(true);
    expect(await windows(brandId)).toEqual([
      [100, HOUR_MS],
      [300, DAY_MS],
    ]);
    expect(await windows(other)).toEqual([
      [100, HOUR_MS],
      [0, DAY_MS],
    ]);
  });

  test.each<[string, number, boolean]>([
    ['a millisecond before the window ends', HOUR_MS - 1, false],
    ['as it ends', HOUR_MS, true],
    ['at the window’s length before it began', -HOUR_MS, false],
    ['earlier than that: the clock was set back', -HOUR_MS - 1, true],
  ])('%s (%i ms) a new window begins: %s', async (_, afterMs, isNew) => {
    const brandId = freshAddress();
    await take(brandId, 100);
    const nowMs = NOW_MS + afterMs;
    expect(await windows(brandId, nowMs, [HOURLY])).toEqual([
      isNew ? [0, afterMs + HOUR_MS] : [100, HOUR_MS],
    ]);
    expect(await take(brandId, 7, { nowMs })).toBe(isNew);
    expect(await windows(brandId, nowMs, [HOURLY])).toEqual([
      isNew ? [7, afterMs + HOUR_MS] : [100, HOUR_MS],
    ]);
  });

  test('within a window its start stays', async () => {
    const brandId = freshAddress();
    await take(brandId, 10);
    await take(brandId, 10, { nowMs: NOW_MS + 5_000 });
    expect(await windows(brandId, NOW_MS + 5_000, [HOURLY])).toEqual([[20, HOUR_MS]]);
  });

  test('of many brands only those with limits are told, each with its own', async () => {
    const [limited, free] = [freshAddress(), freshAddress()];
    await take(limited, 5);
    await take(free, 6);
    const of = (brandId: `0x${string}`, limits: SpendLimit[]) => ({ brandId, limits });
    const read = await readSpending(kit().database.db, {
      brands: [of(free, []), of(limited, [HOURLY])],
      nowMs: NOW_MS,
    });
    expect([...read]).toEqual([
      [limited, [{ span: 'hour', limit: 100, spent: 5, endsAtMs: NOW_MS + HOUR_MS }]],
    ]);
    expect((await readSpending(kit().database.db, { brands: [of(free, [])], nowMs: NOW_MS })).size).toBe(0);
    for (const brands of [
      [of(free, [HOURLY]), of(limited, [HOURLY])],
      [of(limited, [HOURLY]), of(free, [HOURLY])],
    ]) {
      const both = await readSpending(kit().database.db, { brands, nowMs: NOW_MS });
      expect([limited, free].map((brandId) => both.get(brandId)?.map(({ spent }) => spent))).toEqual([
        [5],
        [6],
      ]);
    }
  });

  test('a reward goes back out of the windows of its own brand that counted it', async () => {
    const [brandId, other] = [freshAddress(), freshAddress()];
    await take(brandId, 50, { of: DAILY });
    await take(brandId, 50, { nowMs: NOW_MS + 1 });
    await take(other, 50, { of: DAILY });
    const giveBack = (createdAt: number) =>
      kit().database.atomically((tx) => giveBackSpending(tx, { brandId, amount: 20, createdAt }));
    const spent = async (of: `0x${string}`) => (await windows(of)).map(([amount]) => amount);
    // The hour began after it.
    await giveBack(NOW_MS);
    expect(await spent(brandId)).toEqual([50, 30]);
    await giveBack(NOW_MS + 1);
    expect(await spent(brandId)).toEqual([30, 10]);
    expect(await spent(other)).toEqual([0, 50]);
  });

  test('a limit that a brand no longer has forgets its window, and no other', async () => {
    const [brandId, other] = [freshAddress(), freshAddress()];
    for (const of of [HOURLY, DAILY]) {
      await take(brandId, 50, { of });
      await take(other, 50, { of });
    }
    const spent = async (of: `0x${string}`) => (await windows(of)).map(([amount]) => amount);
    await kit().database.atomically((tx) => forgetSpending(tx, { brandId, limits: [DAILY] }));
    expect(await spent(brandId)).toEqual([0, 50]);
    expect(await spent(other)).toEqual([50, 50]);
    const spans: SpendSpan[] = ['hour', 'day'];
    expect(spans).toHaveLength((await windows(brandId)).length);
    await kit().database.atomically((tx) => forgetSpending(tx, { brandId, limits: [] }));
    expect(await spent(brandId)).toEqual([0, 0]);
  });
});
