/** Time in tests: waiting for what comes by itself, and moving the clock of an emulator. */
import { delay } from '../../../src/lib/timers.ts';
import type { Answer } from './service.ts';

/** For what hangs: a busy machine takes long, and a condition that comes true ends the wait at once. */
const GIVE_UP_MS = 30_000;
const LOOK_EVERY_MS = 20;

/**
 * Resolves when the condition holds; rejects, naming `what`, when it did not within the cap. Between two looks it waits
 * for as long as the last one took, so that looking takes no more than half of the time from what is waited for.
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  capMs = GIVE_UP_MS,
): Promise<void> {
  const giveUpAt = performance.now() + capMs;
  for (;;) {
    const lookedAt = performance.now();
    if (await isSo()) return;
    const now = performance.now();
    if (now > giveUpAt) throw new Error(`waited in vain: ${what}`);
    await delay(Math.max(LOOK_EVERY_MS, now - lookedAt));
  }
}

/** Everything that was already due has happened: promises, immediates and timers of no length. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** The clock of an emulator, through its control API. */
export const clockOf = (control: (path: string, body: unknown) => Promise<Answer>) => ({
  advance: (duration: string) => control('/clock', { advance: duration }),
  setClock: (nowMs: number) => control('/clock', { set: nowMs }),
  freeze: () => control('/clock', { freeze: true }),
});
