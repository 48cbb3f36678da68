/** The schedule of deliveries, what an answer means for it, and when an endpoint is turned off. */
import { describe, expect, test } from 'vitest';
import {
  attemptPausesMs,
  FAILING_MAX_MS,
  failingSince,
  nextAttemptAt,
  pausedUntil,
  verdictOf,
} from '../../../src/rules/webhook-schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 1_700_000_000_000;

describe('the next attempt', () => {
  test('ten attempts take 75 h 35 min and 5 s when chance is in the middle', () => {
    const at: number[] = [NOW_MS];
    for (let tries = 1; ; tries++) {
      const next = nextAttemptAt({ tries, nowMs: at.at(-1) ?? 0, random: 0.5 });
      if (next === undefined) break;
      at.push(next);
    }
    expect(at).toHaveLength(10);
    expect((at.at(-1) ?? 0) - NOW_MS).toBe((75 * 60 + 35) * 60_000 + 5_000);
  });

  test.each(attemptPausesMs.slice(1).map((pauseMs, place) => [place + 1, pauseMs]))(
    'after failure %i it comes a fifth earlier or later than %i ms at most',
    (tries, pauseMs) => {
      const pauseAfter = (random: number) => (nextAttemptAt({ tries, nowMs: NOW_MS, random }) ?? 0) - NOW_MS;
      expect(pauseAfter(0)).toBe(pauseMs * 0.8);
      expect(pauseAfter(1)).toBe(pauseMs * 1.2);
      expect(pauseAfter(0.25)).toBe(pauseMs * 0.9);
    },
  );

  test('a receiver that asks for more time gets it, up to a day', () => {
    const pauseAfter = (retryAfterMs: number) =>
      (nextAttemptAt({ tries: 1, nowMs: NOW_MS, random: 0.5, retryAfterMs }) ?? 0) - NOW_MS;
    expect(pauseAfter(60_000)).toBe(60_000);
    expect(pauseAfter(1_000)).toBe(5_000);
    expect(pauseAfter(-60_000)).toBe(5_000);
    expect(pauseAfter(100 * DAY_MS)).toBe(DAY_MS);
    expect(pausedUntil({ nowMs: NOW_MS, retryAfterMs: 100 * DAY_MS })).toBe(NOW_MS + DAY_MS);
    expect(pausedUntil({ nowMs: NOW_MS })).toBe(0);
  });
});

test.each([
  [200, { kind: 'delivered' }],
  [204, { kind: 'delivered' }],
  [299, { kind: 'delivered' }],
  [300, { kind: 'failed' }],
  [302, { kind: 'failed' }],
  [404, { kind: 'failed' }],
  [410, { kind: 'gone' }],
  [429, { kind: 'failed', retryAfterMs: 7_000 }],
  [500, { kind: 'failed' }],
  [503, { kind: 'failed', retryAfterMs: 7_000 }],
  [undefined, { kind: 'failed' }],
])('an answer of %s means %o', (status, verdict) => {
  expect(verdictOf({ status, retryAfterMs: 7_000 })).toEqual(verdict);
});

describe('an endpoint that fails', () => {
  test('has failed for too long after five days without a success', () => {
    const first = failingSince({ failingSince: null, lastFailedAt: null }, NOW_MS);
    expect(first).toEqual({ sinceMs: NOW_MS, isTooLong: false });
    const almost = { failingSince: NOW_MS, lastFailedAt: NOW_MS + FAILING_MAX_MS - DAY_MS };
    expect(failingSince(almost, NOW_MS + FAILING_MAX_MS - 1).isTooLong).toBe(false);
    expect(failingSince(almost, NOW_MS + FAILING_MAX_MS).isTooLong).toBe(true);
  });

  test('begins anew when nothing was sent there for longer than any pause', () => {
    const before = { failingSince: NOW_MS, lastFailedAt: NOW_MS + DAY_MS };
    const later = NOW_MS + 30 * DAY_MS;
    expect(failingSince(before, later)).toEqual({ sinceMs: later, isTooLong: false });
  });
});
