/** Whether loops that nobody wakes rest. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';

/** A loop without its pause turns at least once in so many rounds of this process. */
const ROUNDS = 20_000;

/** Waits until `turns` has seen one, and sees that no more come while this process has nothing else to do. */
export async function expectRest(turns: () => number): Promise<void> {
  await expect.poll(turns).toBeGreaterThan(0);
  const inRounds = async () => {
    const before = turns();
    for (let n = 0; n < ROUNDS; n++) await setImmediate();
    return turns() - before;
  };
  // What is under way may end first.
  await expect.poll(inRounds).toBe(0);
}
