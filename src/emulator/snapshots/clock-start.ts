/** How the clock goes on after a snapshot has been put in place. */
import type { ClockStart } from '../../lib/clock.ts';
import type { Manifest } from './manifest.ts';

/**
 * A frozen clock stands where it stood. One that runs goes on from there, at the earliest a second after the newest block,
 * and up to a second later: whole seconds ahead of the machine's, so that the next block carries this clock's second.
 */
export function clockStartOf(
  { clock, chain }: Pick<Manifest, 'clock' | 'chain'>,
  realNowMs: number,
): ClockStart {
  if (clock.frozen) return { startMs: clock.nowMs, frozen: true };
  const earliestMs = Math.max(clock.nowMs, (chain.timestampSeconds + 1) * 1_000);
  return { offsetMs: Math.ceil((earliestMs - realNowMs) / 1_000) * 1_000 };
}
