import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../src/lib/duration.ts';

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['15m', 900_000],
    ['36h', 129_600_000],
    ['7d', 604_800_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(['', '5', 's', '1x', '-1s', '1 h', '1h 30m', '1e3s', 'NaNs', `${'9'.repeat(15)}d`])(
    'no duration: %j',
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  test.each([
    [0, '0ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [61_000, '1m1s'],
    [86_398_200, '23h59m59s'],
    [90_061_000, '1d1h1m1s'],
  ])('%d ms is written %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test('what is written is read back as no less', () => {
    for (const ms of [1, 999, 1_001, 59_999, 3_600_001]) {
      expect(parseDuration(formatDuration(ms))).toBeGreaterThanOrEqual(ms);
    }
  });
});
