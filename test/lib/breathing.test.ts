/** Long work beside requests on the one thread. */
import { afterEach, expect, test } from 'vitest';
import { createBreathing } from '../../src/lib/timers.ts';

const WORK_MS = 8;

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

let others: NodeJS.Immediate | undefined;
/** In every turn of the event loop, others need so long; returns how many turns they had. */
function othersNeed(ms: number): () => number {
  let turns = 0;
  const turn = () => {
    turns += 1;
    work(ms);
    others = setImmediate(turn);
  };
  others = setImmediate(turn);
  return () => turns;
}
afterEach(() => clearImmediate(others));

test('where others are busy, they have three times as long', async () => {
  const breathe = createBreathing(WORK_MS, { othersTimes: 3 });
  othersNeed(4);
  work(WORK_MS);
  const startedMs = performance.now();
  await breathe();
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(WORK_MS * 3);
});

test('where no other work needs the thread, it goes on after one turn', async () => {
  const breathe = createBreathing(WORK_MS, { othersTimes: 1_000_000 });
  const turns = othersNeed(0);
  work(WORK_MS);
  await breathe();
  // A turn may meet a collection or another process now and then; a thousand do not.
  expect(turns()).toBeGreaterThan(0);
  expect(turns()).toBeLessThan(1_000);
});

test('what has taken less than its time goes on at once', async () => {
  const breathe = createBreathing(60_000, { othersTimes: 3 });
  const turns = othersNeed(0);
  await breathe();
  expect(turns()).toBe(0);
});
