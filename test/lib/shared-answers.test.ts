import { expect, test } from 'vitest';
import { createSharedAnswers } from '../../src/lib/batch/shared-answers.ts';

function counting(keptMs: number) {
  const clock = { ms: 0 };
  const shared = createSharedAnswers<number>({ keptMs, keysMax: 2, now: () => clock.ms });
  let asked = 0;
  const ask = async () => ++asked;
  return { clock, shared, ask, asked: () => asked };
}

test('those who ask at once share one question; each key has its own', async () => {
  const { shared, ask } = counting(0);
  expect(await Promise.all([shared('a', ask), shared('a', ask), shared('b', ask)])).toEqual([1, 1, 2]);
  expect(await shared('a', ask)).toBe(3);
});

test('an answer is kept for its time, and a failure is not', async () => {
  const { clock, shared, ask } = counting(1_000);
  const fails = () => Promise.reject(new Error('away'));
  const both = await Promise.allSettled([shared('a', fails), shared('a', ask)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await shared('a', ask)).toBe(1);
  clock.ms = 999;
  expect(await shared('a', ask)).toBe(1);
  clock.ms = 1_000;
  expect(await shared('a', ask)).toBe(2);
});

test('only as many answers are kept as may be', async () => {
  const { shared, ask } = counting(1_000);
  for (const key of ['a', 'b', 'c']) await shared(key, ask);
  expect(await shared('c', ask)).toBe(3);
  expect(await shared('a', ask)).toBe(4);
});
