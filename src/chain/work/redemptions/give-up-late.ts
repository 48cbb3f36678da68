/** Gives up redemptions that no transaction carries in time, whichever process has the key that sends them. */
import type { Database } from '../../../ledger/database/database.ts';
import { giveUpExpired } from '../../../ledger/perks/redemption-queue.ts';
import type { Log } from '../../../lib/log.ts';
import { createLoop } from '../../../lib/loop.ts';

/** Redemptions that one line of the log names. */
const NAMED_MAX = 10;

export interface GiveUpSettings {
  /** How long a redemption waits for a transaction at most, by the ledger's clock. */
  giveUpAfterMs: number;
  giveUpLookMs: number;
}

/** What was kept for them is free again, and their callers are told. */
export const giveUpLateRedemptions = ({
  database,
  settings,
  onGivenUp,
  log,
}: {
  database: Database;
  settings: GiveUpSettings;
  onGivenUp: () => void;
  log: Log;
}) =>
  createLoop({
    name: 'late redemptions',
    async turn() {
      const ids = await giveUpExpired(database.db, { now: database.now, afterMs: settings.giveUpAfterMs });
      if (ids.length > 0) {
        const named = { redemptions: ids.slice(0, NAMED_MAX).join(' '), count: ids.length };
        log.warn(named, 'no transaction carried redemptions in time; they are given up');
        onGivenUp();
      }
      return 'idle';
    },
    pauseMs: () => settings.giveUpLookMs,
    log,
  });
