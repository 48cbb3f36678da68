/** The limits, at the millisecond. */
import { describe, expect, test } from 'vitest';
import type { EventRule } from '../../src/rules/brands/brand.ts';
import { type ClaimQuestion, claimTerms, refuseClaim } from '../../src/rules/events/claim-policy.ts';

const HOUR = 3_600_000;
const T0 = Date.UTC(2030, 0, 1);
const rule = (change: Partial<EventRule> = {}): EventRule => ({
  brandId: '0x00000000000000000000000000000000000000aa',
  eventType: 'account_creation',
  active: true,
  rewardAmount: 100,
  maxClaims: -1,
  maxTotalClaims: -1,
  cooldownMs: 24 * HOUR,
  detail: { eventId: 'account_creation', isCustom: false, detectionMethod: 'manual', detectionConfig: {} },
  ...change,
});
/** The first reason against a claim `afterMs` after the last of `claims` claims. */
const refusalOf = (
  afterMs: number,
  change: Partial<Omit<ClaimQuestion, 'rule' | 'state'>> & {
    rule?: Partial<EventRule>;
    claims?: number;
    total?: number;
    funds?: number;
  } = {},
) => {
  const { rule: ofRule, claims = 1, total = 0, funds = 1_000, ...rest } = change;
  return refuseClaim({
    rule: rule(ofRule),
    state: {
      counter: claims > 0 ? { claims, lastAt: T0, lastRewardId: 'earlier', lastAmount: 100 } : undefined,
      totalClaims: total,
      availableFunds: funds,
    },
    bypass: { cooldown: false, maxClaims: false },
    amount: 100,
    nowMs: T0 + afterMs,
    duplicateWindowMs: 60_000,
    ...rest,
  });
};
const codeOf = (...of: Parameters<typeof refusalOf>) => refusalOf(...of)?.code;

describe('contract: Limits, Duplicate detection window', () => {
  test.each([
    [0, 'duplicate'],
    [1, 'duplicate'],
    [59_999, 'duplicate'],
    [60_000, undefined],
  ])('%i ms after the last one: %s', (afterMs, code) => {
    expect(codeOf(afterMs, { rule: { cooldownMs: 0 } })).toBe(code);
  });

  test('its other length, 5 seconds', () => {
    const short = { rule: { cooldownMs: 0 }, duplicateWindowMs: 5_000 };
    expect([codeOf(4_999, short), codeOf(5_000, short)]).toEqual(['duplicate', undefined]);
  });

  test('a clock that stepped back opens nothing', () => {
    expect(codeOf(-HOUR)).toBe('duplicate');
    expect(codeOf(-HOUR, { rule: { cooldownMs: 0 }, duplicateWindowMs: 0 })).toBe('duplicate');
  });

  test('no source passes over it', () => {
    expect(codeOf(1, { bypass: { cooldown: true, maxClaims: true } })).toBe('duplicate');
  });
});

describe('contract: Limits, Cooldown', () => {
  test.each([
    [60_000, 'cooldown'],
    [24 * HOUR - 1, 'cooldown'],
    [24 * HOUR, undefined],
  ])('%i ms after the last one: %s', (afterMs, code) => {
    expect(codeOf(afterMs)).toBe(code);
  });

  test('tells how long it is, what is left and when it ends', () => {
    expect(refusalOf(HOUR)).toEqual({
      code: 'cooldown',
      cooldownMs: 24 * HOUR,
      remainingMs: 23 * HOUR,
      passesAtMs: T0 + 24 * HOUR,
      previousReward: { eventId: 'earlier', rewardAmount: 100, timestamp: T0 },
    });
  });

  test('0 is none, and a bypass passes over it', () => {
    expect(codeOf(60_000, { rule: { cooldownMs: 0 } })).toBeUndefined();
    expect(codeOf(60_000, { bypass: { cooldown: true, maxClaims: false } })).toBeUndefined();
  });
});

describe('contract: Limits, Max claims per user', () => {
  const later = 25 * HOUR;
  test.each([
    [1, 0, undefined],
    [1, 1, 'max_claims_reached'],
    [3, 2, undefined],
    [3, 3, 'max_claims_reached'],
    [3, 4, 'max_claims_reached'],
    [-1, 1_000_000, undefined],
    [999_999, 1_000_000, undefined],
  ])('maxClaims %i after %i claims: %s', (maxClaims, claims, code) => {
    expect(codeOf(later, { rule: { maxClaims }, claims })).toBe(code);
  });

  test('comes after the cooldown, and only a source passes over it', () => {
    expect(codeOf(HOUR, { rule: { maxClaims: 1 } })).toBe('cooldown');
    expect(codeOf(HOUR, { rule: { maxClaims: 1 }, bypass: { cooldown: true, maxClaims: false } })).toBe(
      'max_claims_reached',
    );
    expect(
      codeOf(HOUR, { rule: { maxClaims: 1 }, bypass: { cooldown: true, maxClaims: true } }),
    ).toBeUndefined();
  });
});

describe('contract: Limits, Max total claims', () => {
  const bypasses = [
    { cooldown: false, maxClaims: false },
    { cooldown: true, maxClaims: true },
  ];
  test.each(bypasses)('is enforced whatever the source: %j', (bypass) => {
    const limited = { rule: { maxTotalClaims: 100 }, claims: 0, bypass };
    expect(codeOf(0, { ...limited, total: 99 })).toBeUndefined();
    expect(codeOf(0, { ...limited, total: 100 })).toBe('max_total_claims_reached');
    expect(codeOf(0, { ...limited, total: 5_000, rule: { maxTotalClaims: -1 } })).toBeUndefined();
  });

  test('comes after max claims and before the funds', () => {
    const used = { rule: { maxTotalClaims: 100, maxClaims: 1 }, total: 100, funds: 0 };
    expect(codeOf(25 * HOUR, used)).toBe('max_claims_reached');
    expect(codeOf(25 * HOUR, { ...used, claims: 0 })).toBe('max_total_claims_reached');
  });
});

describe('the funds of the brand', () => {
  test.each([
    [99, 'insufficient_brand_balance'],
    [100, undefined],
  ])('%i RWT for a reward of 100: %s', (funds, code) => {
    expect(codeOf(0, { claims: 0, funds })).toBe(code);
  });
});

describe('the spend limits of the brand', () => {
  const spending = [{ span: 'hour', limit: 150, spent: 60, endsAtMs: T0 + 5 }] as const;
  const ask = (change: { amount?: number; availableFunds?: number; totalClaims?: number }) => {
    const { amount = 100, availableFunds = 1_000, totalClaims = 0 } = change;
    const state = { counter: undefined, totalClaims, availableFunds, spending };
    const bypass = { cooldown: true, maxClaims: true };
    const ofRule = rule({ maxTotalClaims: 5 });
    return refuseClaim({ rule: ofRule, state, bypass, amount, nowMs: T0, duplicateWindowMs: 0 });
  };
  test('stand after the total of claims and before the funds, whatever the source', () => {
    expect(ask({ amount: 90 })).toBeUndefined();
    expect(ask({})).toEqual({ ...spending[0], code: 'spend_limit', required: 100, passesAtMs: T0 + 5 });
    expect(ask({ availableFunds: 0 })?.code).toBe('spend_limit');
    expect(ask({ totalClaims: 5 })?.code).toBe('max_total_claims_reached');
  });
});

test('a user whose only claim was given back is as good as new', () => {
  const counter = { claims: 0, lastAt: T0, lastRewardId: 'undone', lastAmount: 100 };
  const state = { counter, totalClaims: 0, availableFunds: 100 };
  const bypass = { cooldown: false, maxClaims: false };
  const claim = { rule: rule({ maxClaims: 1 }), state, bypass, amount: 100 };
  expect(refuseClaim({ ...claim, nowMs: T0, duplicateWindowMs: 60_000 })).toBeUndefined();
});

describe('the terms that the ledger compares its rows with', () => {
  test('say the same as the decision', () => {
    for (const cooldownMs of [0, 1, 59_999, 60_000, 60_001, HOUR]) {
      for (const duplicateWindowMs of [0, 5_000, 60_000]) {
        for (const cooldown of [false, true]) {
          for (const maxClaims of [-1, 1, 3, 999_999]) {
            const bypass = { cooldown, maxClaims: false };
            for (const afterMs of [0, 1, 4_999, 5_000, 59_999, 60_000, 60_001, HOUR - 1, HOUR]) {
              for (const claims of [1, 2, 3, 4]) {
                const ofRule = { cooldownMs, maxClaims };
                const passes =
                  codeOf(afterMs, { rule: ofRule, bypass, duplicateWindowMs, claims }) === undefined;
                const nowMs = T0 + afterMs;
                const terms = claimTerms({ rule: rule(ofRule), bypass, nowMs, duplicateWindowMs });
                expect(claims < terms.claimsBelow && T0 <= terms.lastAtMost).toBe(passes);
              }
            }
          }
        }
      }
    }
  });
});
