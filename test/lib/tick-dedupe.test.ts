/** Answers that are shared in one turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTickDedupe } from '../../src/lib/batch/shared-answers.ts';

test('what is asked in one turn is asked once for each key, and in the next turn anew', async () => {
  const asked: string[] = [];
  const ask = createTickDedupe(async (key: string) => {
    asked.push(key);
    return `${key} ${asked.length}`;
  });
  expect(await Promise.all([ask('a'), ask('b'), ask('a')])).toEqual(['a 1', 'b 2', 'a 1']);
  await nextTurn();
  expect([await ask('a'), asked]).toEqual(['a 3', ['a', 'b', 'a']]);
});

test('a failure is shared as well, and the next turn asks again', async () => {
  let fails = true;
  const ask = createTickDedupe(async (key: string) => {
    if (fails) throw new Error(`no ${key}`);
    return key;
  });
  const both = await Promise.allSettled([ask('a'), ask('a')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await nextTurn();
  fails = false;
  expect(await ask('a')).toBe('a');
});
