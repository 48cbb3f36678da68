/** For how long a consumer has been behind. */
import { expect, test } from 'vitest';
import { createConsumerLags } from '../../src/production/metrics.ts';

test('a consumer that keeps up is never behind for long, one that stands is behind since it was first seen so', () => {
  const { look } = createConsumerLags();
  const boards = (position: number, head: number, nowMs: number) =>
    look({ consumer: 'boards', position, head, nowMs });
  expect(boards(5, 5, 1_000)).toEqual({ facts: 0, sinceMs: undefined });
  expect(boards(5, 8, 2_000)).toEqual({ facts: 3, sinceMs: 2_000 });
  expect(boards(7, 20, 3_000)).toEqual({ facts: 13, sinceMs: 2_000 });
  // It has what it lacked then; the rest is new.
  expect(boards(8, 20, 4_000)).toEqual({ facts: 12, sinceMs: 4_000 });
  expect(boards(8, 30, 9_000)).toEqual({ facts: 22, sinceMs: 4_000 });
  expect(look({ consumer: 'webhooks', position: 30, head: 30, nowMs: 9_000 }).facts).toBe(0);
  expect(boards(30, 30, 10_000)).toEqual({ facts: 0, sinceMs: undefined });
});
