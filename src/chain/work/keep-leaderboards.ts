/** Keeps the leaderboards beside the engine: counts payouts from before there were any, and closes old weeks and months. */
import type { Database } from '../../ledger/database/database.ts';
import { closeOldBoards } from '../../ledger/engagement/close-boards.ts';
import { countEarlierPayouts } from '../../ledger/engagement/count-rewards.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import { sequencesInPayout } from '../contracts/payout-batch.ts';

/** The month before the present one is shown until the present one ends, so it is kept for twice as long. */
const KEPT_MS = 62 * 24 * 60 * 60_000;
/** Old boards can wait; this is only how soon they are looked for. */
const LOOK_EVERY_MS = 60_000;
/** A commit of these takes some hundredths of a second, and what is paid meanwhile waits no longer. */
const PAYOUTS_AT_ONCE = 4;
const SCORES_AT_ONCE = 500;

export function keepLeaderboards(deps: { database: Database; clock: Pick<Clock, 'now'>; log: Log }) {
  const { database, clock, log } = deps;
  return createLoop({
    name: 'leaderboards',
    async turn() {
      const counted = await database.atomically((tx) =>
        countEarlierPayouts(tx, { limit: PAYOUTS_AT_ONCE, sequencesOf: sequencesInPayout }),
      );
      const deleted = await database.atomically((tx) =>
        closeOldBoards(tx, { beforeMs: clock.now() - KEPT_MS, limit: SCORES_AT_ONCE }),
      );
      return counted + deleted > 0 ? 'worked' : 'idle';
    },
    pauseMs: () => LOOK_EVERY_MS,
    log,
  });
}
