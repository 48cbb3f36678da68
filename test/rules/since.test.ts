/** What `--since` may be. */
import { expect, test } from 'vitest';
import { parseSince, SINCE_MUST_BE } from '../../src/rules/since.ts';

test.each<[string, object | undefined]>([
  ['0', { block: 0 }],
  ['123456789012345', { block: 123_456_789_012_345 }],
  ['1234567890123456', undefined],
  ['2030-01-01T00:00:00Z', { timeMs: Date.UTC(2030, 0, 1) }],
  ['-5', undefined],
  ['12a', undefined],
  ['a12', undefined],
  ['yesterday', undefined],
  ['', undefined],
])('%j is %j', (text, since) => {
  expect(parseSince(text)).toEqual(since);
});

test('what it must be names both', () => {
  expect(SINCE_MUST_BE).toBe('a block number, or a time such as 2030-01-01T00:00:00Z');
});
