/** Restores the emulator's clock as the last run left it, unless the command line sets it. */
import type { Database } from '../../ledger/database/database.ts';
import { readFact, writeFact } from '../../ledger/facts.ts';
import { type AdjustableClock, adjustableClock } from '../../lib/clock.ts';

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
