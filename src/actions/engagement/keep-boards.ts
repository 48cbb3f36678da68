/** Closes the leaderboards of weeks and months that ended long ago, piece by piece. */
import type { Database } from '../../ledger/database/database.ts';
import { closeOldBoards } from '../../ledger/engagement/boards.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';

/** The month before the present one is shown until the present one ends, so it is kept for twice as long. */
const KEPT_MS = 62 * 24 * 60 * 60_000;
/** Old boards can wait; this is only how soon they are looked for. */
const LOOK_EVERY_MS = 60_000;
/** A commit of these takes some hundredths of a second. */
const SCORES_AT_ONCE = 500;

export function keepBoards(deps: { database: Database; clock: Pick<Clock, 'now'>; log: Log }) {
  const { database, clock, log } = deps;
  return createLoop({
    name: 'leaderboards',
    async turn() {
      const deleted = await database.atomically((tx) =>
        closeOldBoards(tx, { beforeMs: clock.now() - KEPT_MS, limit: SCORES_AT_ONCE }),
      );
      return deleted > 0 ? 'worked' : 'idle';
    },
    pauseMs: () => LOOK_EVERY_MS,
    log,
  });
}
