/** What an event pays. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DynamicReward } from '../../src/rules/brands/brand.ts';
import { rewardAmount } from '../../src/rules/events/reward-amount.ts';

const pays = (
  dynamic: DynamicReward | undefined,
  metadata: Record<string, unknown> = {},
  streakMultiplier = 1,
) => {
  const detail = { eventId: 'e', isCustom: false, detectionMethod: 'manual', detectionConfig: {} };
  const rule = { rewardAmount: 10, detail: { ...detail, ...(dynamic && { dynamic }) } };
  const worth = rewardAmount(rule, { metadata, streakMultiplier });
  return 'amount' in worth ? worth.amount : worth.problem;
};

describe('a fixed amount', () => {
  test('is paid whatever the event says', () => {
    expect(pays(undefined)).toBe(10);
    expect(pays(undefined, { order_total: 1_000_000, rewardAmount: 99, amount: 99 })).toBe(10);
    expect(pays(undefined, {}, 2)).toBe(10);
  });
});

describe('contract: Event types, 1-10 per USD', () => {
  test.each<[unknown, DynamicReward, number]>([
    [100, { perUsd: 1 }, 100],
    [19.99, { perUsd: 1 }, 19],
    [19.99, { perUsd: 10 }, 199],
    [0.29, { perUsd: 100 }, 29],
    [1.15, { perUsd: 100 }, 115],
    ['49.90', { perUsd: 1 }, 49],
    [' 49.90 ', { perUsd: 1 }, 49],
    ['0100', { perUsd: 1 }, 100],
    [1000, { perUsd: 5, maxReward: 250 }, 250],
    [50, { perUsd: 5, maxReward: 250 }, 250],
    [49.99, { perUsd: 5, maxReward: 250 }, 249],
    [undefined, { perUsd: 5 }, 10],
    [null, { perUsd: 5 }, 10],
    [1e9, { perUsd: 1e6 }, 1_000_000_000],
  ])('order_total %j with %j pays %j', (order_total, dynamic, amount) => {
    expect(pays(dynamic, { order_total })).toBe(amount);
  });

  test.each<unknown>([
    -1,
    -0.01,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e10,
    '',
    ' ',
    '1e3',
    '0x10',
    '-5',
    '+5',
    '1,5',
    '1.',
    '.5',
    '٣',
    '10 USD',
    '99999999999',
    true,
    [],
    [5],
    {},
    { valueOf: 5 },
  ])('order_total %j is refused', (order_total) => {
    expect(pays({ perUsd: 1 }, { order_total })).toContain('order_total');
  });

  test.each([0, -0, 0.99, '0', '0.50'])('order_total %j comes to nothing, and is refused', (order_total) => {
    expect(pays({ perUsd: 1 }, { order_total })).toContain('less than 1 RWT');
  });

  test('an inherited order_total is none', () => {
    expect(pays({ perUsd: 1 }, Object.create({ order_total: 500 }))).toBe(10);
  });

  test('cents and rates are multiplied without losing one', () => {
    const cents = fc.integer({ min: 1, max: 100_000_000 });
    const rateHundredths = fc.integer({ min: 1, max: 1_000 });
    fc.assert(
      fc.property(cents, rateHundredths, (total, rate) => {
        const exact = Number((BigInt(total) * BigInt(rate)) / 10_000n);
        const paid = pays({ perUsd: rate / 100 }, { order_total: (total / 100).toFixed(2) });
        return exact < 1 ? typeof paid === 'string' : paid === exact;
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('the streak multiplier', () => {
  test.each([
    [1, 10],
    [1.1, 11],
    [1.25, 12],
    [1.5, 15],
    [2, 20],
  ])('%j makes 10 RWT %j', (multiplier, amount) => {
    expect(pays({ multiplier: 'streak' }, {}, multiplier)).toBe(amount);
  });

  test('counts after the cap on the order', () => {
    expect(pays({ perUsd: 1, maxReward: 100, multiplier: 'streak' }, { order_total: 500 }, 2)).toBe(200);
  });
});
