/** Rewards over time, as the ledger has them: counted by the part of the time, of all brands or of one, on every database. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readRewardHistory } from '../../src/ledger/rewards/reward-history.ts';
import { failRewards, recordRewards } from '../../src/ledger/rewards/rewards.ts';
import { historyRanges, historySpan } from '../../src/lib/history-range.ts';
import { freshAddress, onEveryDatabase } from '../kits/databases/databases.ts';

const NOW_MS = Date.UTC(2031, 4, 1, 12, 34, 56);
const DAY = historySpan('day', NOW_MS);
const [BRAND, OTHER] = [freshAddress(), freshAddress()];

test.each(historyRanges)('a %s has at most 60 parts, of which the last holds the present', (range) => {
  const { fromMs, toMs, bucketMs, buckets } = historySpan(range, NOW_MS);
  expect(buckets).toBeLessThanOrEqual(60);
  expect(toMs - fromMs).toBe(bucketMs * buckets);
  expect([toMs > NOW_MS, toMs - bucketMs <= NOW_MS, fromMs % bucketMs]).toEqual([true, true, 0]);
});

onEveryDatabase(({ kit }) => {
  let sequence = 0;
  const grant = async (brandId: `0x${string}`, amount: number, createdAt: number) => {
    sequence += 1;
    const reward = {
      ...{ sequence, id: randomUUID(), brandId, amount, createdAt, eventType: 'form_submit' },
      ...{ userKey: 'a@mail.example', wallet: freshAddress(), walletCreated: false, metadata: {} },
    };
    await kit().database.atomically((tx) => recordRewards(tx, [reward]));
    return sequence;
  };
  const read = (brandId?: `0x${string}`, newest = 1_000) =>
    readRewardHistory(kit().database.db, { span: DAY, brandId, newest });

  test('counts what lies within, each part for itself, without what failed, and says what it did not look at', async () => {
    sequence = 0;
    expect(await read()).toEqual({ buckets: [], countedFromMs: undefined });
    await grant(BRAND, 1, DAY.fromMs - 1);
    await grant(BRAND, 2, DAY.fromMs);
    await grant(BRAND, 3, DAY.fromMs + DAY.bucketMs - 1);
    await grant(OTHER, 4, DAY.fromMs + DAY.bucketMs);
    const failed = await grant(BRAND, 5, NOW_MS);
    await kit().database.atomically((tx) => failRewards(tx, { sequences: [failed], failure: 'no' }));
    await grant(BRAND, 6, NOW_MS);
    // A clock that was set back leaves rewards of a later time.
    await grant(BRAND, 7, DAY.toMs);
    const [first, last] = [
      { bucket: 0, rewards: 2, rwt: 5 },
      { bucket: 47, rewards: 1, rwt: 6 },
    ];
    const all = [first, { bucket: 1, rewards: 1, rwt: 4 }, last];
    expect(await read()).toEqual({ buckets: all, countedFromMs: undefined });
    expect(await read(BRAND)).toEqual({ buckets: [first, last], countedFromMs: undefined });
    expect(await read(freshAddress())).toEqual({ buckets: [], countedFromMs: undefined });
    expect(await read(undefined, 4)).toEqual({
      buckets: [{ bucket: 1, rewards: 1, rwt: 4 }, last],
      countedFromMs: DAY.fromMs + DAY.bucketMs,
    });
  });
});
