/** How much all events of a brand may earn in an hour and in a day. */
import { describe, expect, test } from 'vitest';
import type { BrandProfile } from '../../src/rules/brands/brand.ts';
import {
  refuseSpending,
  SPAN_MS,
  type SpendWindow,
  spendLimits,
} from '../../src/rules/events/spend-limit.ts';

const NOW = Date.UTC(2030, 0, 1);
const hour = (change: Partial<SpendWindow> = {}): SpendWindow => ({
  span: 'hour',
  limit: 100,
  spent: 60,
  endsAtMs: NOW + 1_000,
  ...change,
});
const day = (change: Partial<SpendWindow> = {}): SpendWindow => ({
  span: 'day',
  limit: 500,
  spent: 480,
  endsAtMs: NOW + 5_000,
  ...change,
});
const refusal = (windows: SpendWindow[], amount: number) => refuseSpending(windows, { amount, nowMs: NOW });

test('the spans are an hour and a day', () => {
  expect(SPAN_MS).toEqual({ hour: 3_600_000, day: 86_400_000 });
});

test.each<[Partial<BrandProfile>, unknown[]]>([
  [{}, []],
  [{ spendPerHour: 5 }, [{ span: 'hour', limit: 5 }]],
  [{ spendPerDay: 9 }, [{ span: 'day', limit: 9 }]],
  [
    { spendPerHour: 5, spendPerDay: 9 },
    [
      { span: 'day', limit: 9 },
      { span: 'hour', limit: 5 },
    ],
  ],
])('a brand with %j has the limits %j', (profile, limits) => {
  expect(spendLimits(profile as BrandProfile)).toEqual(limits);
});

describe('a reward', () => {
  test('that the limit still holds is granted, and one RWT more is not', () => {
    expect(refusal([], 1_000_000)).toBeUndefined();
    expect(refusal([hour()], 40)).toBeUndefined();
    expect(refusal([hour()], 41)).toEqual({
      ...hour(),
      code: 'spend_limit',
      required: 41,
      passesAtMs: NOW + 1_000,
    });
  });

  test('counts nothing of a window that has ended, to the millisecond', () => {
    expect(refusal([hour({ endsAtMs: NOW })], 100)).toBeUndefined();
    expect(refusal([hour({ endsAtMs: NOW + 1 })], 100)).toMatchObject({ passesAtMs: NOW + 1 });
  });

  test('above the whole limit never passes, whatever the window', () => {
    expect(refusal([hour({ endsAtMs: NOW })], 101)).toMatchObject({ required: 101, passesAtMs: undefined });
    expect(refusal([hour({ spent: 1 })], 100)).toMatchObject({ passesAtMs: NOW + 1_000 });
  });

  test('waits for the limit that lasts longest, in whatever order they come', () => {
    const turns = (windows: SpendWindow[]) => [windows, windows.toReversed()];
    for (const windows of turns([hour(), day()])) {
      expect(refusal(windows, 41)).toMatchObject({ span: 'day', passesAtMs: NOW + 5_000 });
      expect(refusal(windows, 101)).toMatchObject({ span: 'hour', passesAtMs: undefined });
    }
    for (const windows of turns([hour(), day({ spent: 0 })]))
      expect(refusal(windows, 41)).toMatchObject({ span: 'hour' });
  });
});
