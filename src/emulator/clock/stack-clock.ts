/** The emulator's clock: as the last run left it, unless the command line sets it, and along with a jump of the machine's clock. */
import type { Database } from '../../ledger/database/database.ts';
import { readFact, writeFact } from '../../ledger/facts.ts';
import { type AdjustableClock, adjustableClock } from '../../lib/clock.ts';
import type { FaultListener } from '../faults/fault-registry.ts';

/** Stores the state of the clock for the next run. */
export const keepClock = (database: Database, clock: AdjustableClock): Promise<void> => {
  const { nowMs, offsetMs, frozen } = clock.state();
  return writeFact(database.db, 'clock', { offsetMs, frozenAtMs: frozen ? nowMs : null });
};

export async function restoreClock(
  config: { clockStartMs?: number | undefined; frozen: boolean },
  database: Database,
): Promise<AdjustableClock> {
  const { clockStartMs, frozen } = config;
  const kept = clockStartMs === undefined ? await readFact(database.db, 'clock') : undefined;
  const startMs = clockStartMs ?? kept?.frozenAtMs ?? undefined;
  return adjustableClock({
    ...(startMs === undefined ? { offsetMs: kept?.offsetMs ?? 0 } : { startMs }),
    frozen: frozen || (kept?.frozenAtMs ?? null) !== null,
  });
}

/** `follow` is called after each jump: the chain's time goes with the clock, though never back. */
export function jumpClock({ clock, follow }: { clock: AdjustableClock; follow: () => void }): FaultListener {
  const jump = (of: { seam: string; effect: string; amount: number | undefined }, sign: 1 | -1) => {
    if (of.seam !== 'clock') return;
    clock.set(clock.now() + sign * (of.effect === 'ahead' ? 1 : -1) * (of.amount ?? 0));
    follow();
  };
  return { begin: (read) => jump(read, 1), over: (fault) => jump(fault, -1) };
}
