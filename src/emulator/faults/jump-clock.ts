/** A jump of the machine's clock: the emulator's goes along, as far as the fault says, and back when it is over. */
import type { AdjustableClock } from '../../lib/clock.ts';
import type { FaultListener } from './fault-registry.ts';

/** `follow` is called after each jump: the chain's time goes with the clock, though never back. */
export function jumpClock({ clock, follow }: { clock: AdjustableClock; follow: () => void }): FaultListener {
  const jump = (of: { seam: string; effect: string; amount: number | undefined }, sign: 1 | -1) => {
    if (of.seam !== 'clock') return;
    clock.set(clock.now() + sign * (of.effect === 'ahead' ? 1 : -1) * (of.amount ?? 0));
    follow();
  };
  return { begin: (read) => jump(read, 1), over: (fault) => jump(fault, -1) };
}
