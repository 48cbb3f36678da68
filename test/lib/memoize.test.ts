import { expect, test } from 'vitest';
import { memoize } from '../../src/lib/memoize.ts';

test('a text is looked at once, long texts and those beyond the limit each time', () => {
  const asked: string[] = [];
  const lengthOf = memoize((text) => {
    asked.push(text);
    return text.length;
  });
  const long = 'x'.repeat(301);
  for (let round = 0; round < 2; round++) expect([lengthOf('ab'), lengthOf(long)]).toEqual([2, 301]);
  expect(asked).toEqual(['ab', long, long]);
  for (let other = 0; other < 5_000; other++) lengthOf(`${other}`);
  expect(lengthOf('ab')).toBe(2);
  expect(asked.filter((text) => text === 'ab')).toHaveLength(2);
});
