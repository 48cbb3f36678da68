/** Makes the local chain's block time follow the adjustable clock. */
import type { AdjustableClock } from '../../lib/clock.ts';
import { createMutex } from '../../lib/mutex.ts';
import { headBlock, type LocalRpc } from './local-rpc.ts';

export type ChainTime = ReturnType<typeof createChainTime>;

/** The clock's offset is measured between two reads of the real time and may be a few milliseconds short. */
const OFFSET_TOLERANCE_MS = 50;

const TRIES_PER_SECOND_BOUNDARY = 3;

/**
 * Block times never go back: while the clock is behind the head (it was set back, or the user moved the
 * chain ahead), blocks repeat the head's second. Otherwise a block's time is the clock's second, or the one
 * before when the clock's offset is not a whole second, because Anvil's own offset is in seconds; never ahead.
 */
export function createChainTime(parts: { rpc: LocalRpc; clock: AdjustableClock }) {
  const { rpc, clock } = parts;
  const exclusive = createMutex();
  let heldSeconds: number | undefined;

  const hold = async (seconds: number) => {
    await rpc.call('anvil_setBlockTimestampInterval', [0]);
    await rpc.call('evm_setTime', [seconds]);
  };

  const apply = async () => {
    const headSeconds = (await headBlock(rpc)).timestampSeconds;
    for (let tries = 1; ; tries += 1) {
      const { nowMs, frozen, offsetMs } = clock.state();
      const clockSeconds = Math.floor(nowMs / 1000);
      if (frozen || clockSeconds < headSeconds) {
        const seconds = Math.max(clockSeconds, headSeconds);
        await hold(seconds);
        heldSeconds = frozen ? undefined : seconds;
        return;
      }
      const realSecond = Math.floor((nowMs - offsetMs) / 1000);
      const chainSeconds = realSecond + Math.floor((offsetMs + OFFSET_TOLERANCE_MS) / 1000);
      await rpc.call('evm_setTime', [Math.max(chainSeconds, headSeconds)]);
      await rpc.call('anvil_removeBlockTimestampInterval', []);
      heldSeconds = undefined;
      const after = clock.state();
      // Anvil takes the difference to its own second; across a second's boundary the result would stay one off.
      if (
        Math.floor((after.nowMs - after.offsetMs) / 1000) === realSecond ||
        tries === TRIES_PER_SECOND_BOUNDARY
      )
        return;
    }
  };

  return {
    /** Sets the chain's time to the clock's; the next block then carries the clock's second. */
    sync: () => exclusive(apply),
    /** Called periodically: lets time go on once the clock has caught up with the head. */
    async look() {
      if (heldSeconds !== undefined && clock.now() / 1000 >= heldSeconds) await exclusive(apply);
    },
  };
}
