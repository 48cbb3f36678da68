/** Lists that are asked for piece by piece. */
import { expect, test } from 'vitest';
import { inChunks } from '../../src/ledger/database/many-values.ts';

test.each([
  [0, []],
  [1_000, [1_000]],
  [1_001, [1_000, 1]],
  [2_500, [1_000, 1_000, 500]],
])('%i values: each once, in pieces of %j', async (count, pieces) => {
  const asked: number[] = [];
  const values = Array.from({ length: count }, (_, place) => place);
  const rows = await inChunks(values, async (some) => {
    asked.push(some.length);
    return some;
  });
  expect([rows, asked]).toEqual([values, pieces]);
});
