/** What an event pays. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DynamicReward } from '../../src/rules/brands/brand.ts';
import { rewardAmount } from '../../src/rules/events/reward-amount.ts';

const MOST = 1_000_000_000;

const pays = (
  dynamic: DynamicReward | undefined,
  metadata: Record<string, unknown> = {},
  streakMultiplier = 1,
) => {
  const detail = { eventId: 'e', isCustom: false, detectionMethod: 'manual', detectionConfig: {} };
  const rule = { rewardAmount: 10, detail: { ...detail, ...(dynamic && { dynamic }) } };
  return rewardAmount(rule, { metadata, streakMultiplier, amountsCount: true });
};

describe('a fixed amount', () => {
  test('is paid whatever the event says', () => {
    expect(pays(undefined)).toBe(10);
    expect(pays(undefined, { order_total: 1_000_000, rewardAmount: 99, amount: 99 })).toBe(10);
    expect(pays(undefined, {}, 2)).toBe(10);
  });
});

describe('contract: Event types, 1-10 per USD', () => {
  test.each<[unknown, number, number]>([
    [100, 1, 100],
    [19.99, 1, 19],
    [19.99, 10, 199],
    [0.29, 100, 29],
    [1.15, 100, 115],
    ['49.90', 1, 49],
    [' 49.90 ', 1, 49],
    ['0100', 1, 100],
    [undefined, 5, 10],
    [null, 5, 10],
    [19.999, 1, 19],
    [0.999, 1000, 999],
    ['0.00999', 1000, 9],
    [2.5, 0.4, 1],
    [1e9, 1e6, MOST],
    [1e300, 1, MOST],
    ['99999999999999999999', 1, MOST],
  ])('order_total %j at %j a dollar pays %j', (order_total, perUsd, amount) => {
    expect(pays({ perUsd, maxReward: MOST }, { order_total })).toBe(amount);
  });

  test.each([
    [1000, 250],
    [50, 250],
    [49.99, 249],
  ])('order_total %j pays %j of at most 250', (order_total, amount) => {
    expect(pays({ perUsd: 5, maxReward: 250 }, { order_total })).toBe(amount);
  });

  test.each<unknown>([
    -1,
    -0.01,
    Number.NaN,
    Number.POSITIVE_INFINITY,
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
    '9'.repeat(21),
    true,
    [],
    [5],
    {},
    { valueOf: 5 },
  ])('order_total %j is no amount: the reward of the rule', (order_total) => {
    expect(pays({ perUsd: 1, maxReward: 500 }, { order_total })).toBe(10);
  });

  test.each([0, -0, 1e-9, 0.99, '0', '0.50'])(
    'order_total %j comes to less than 1 RWT: the reward of the rule',
    (order_total) => {
      expect(pays({ perUsd: 1, maxReward: 500 }, { order_total })).toBe(10);
    },
  );

  test('an inherited order_total is none', () => {
    expect(pays({ perUsd: 1, maxReward: 500 }, Object.create({ order_total: 500 }))).toBe(10);
  });

  test('a rule without maxReward, as old ledgers have them, pays its reward', () => {
    expect(pays({ perUsd: 1 }, { order_total: 500 })).toBe(10);
  });

  test('totals and rates are multiplied exactly and rounded down once', () => {
    const thousandths = fc.integer({ min: 1, max: 1_000_000_000 });
    const rateHundredths = fc.integer({ min: 1, max: 1_000 });
    fc.assert(
      fc.property(thousandths, rateHundredths, (total, rate) => {
        const exact = Number((BigInt(total) * BigInt(rate)) / 100_000n);
        const order_total = (total / 1000).toFixed(3);
        const paid = pays({ perUsd: rate / 100, maxReward: MOST }, { order_total });
        return paid === (exact < 1 ? 10 : exact);
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
