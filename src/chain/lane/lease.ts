/** A process's hold on a sending account: a lease that it renews at half time. */
import { isDatabaseUnavailable } from '../../ledger/database/database.ts';
import { leaseLane, releaseLane } from '../../ledger/transactions/lanes.ts';
import { formatDuration } from '../../lib/duration.ts';
import { within } from '../../lib/timers.ts';
import { runSingle } from './shared-commits.ts';
import type { LaneDeps, LaneSettings } from './types.ts';

interface Hold {
  /** The epoch to write under, or undefined while another process has the lane. */
  epoch(): Promise<number | undefined>;
  /** Gives the lease back; without a database it says that it could not, and the lease ends by itself. */
  release(): Promise<void>;
}

type LaneLeaseDeps = Pick<LaneDeps, 'database' | 'sharesCommits' | 'realClock' | 'owner' | 'log'> & {
  signer: Pick<LaneDeps['signer'], 'address'>;
  settings: Pick<LaneSettings, 'leaseMs' | 'purpose'>;
};

/** A database that takes longer does not hold up a stop: to give a lease back only saves the next process a wait. */
const RELEASE_MS = 1_000;

/** `onChange`: another process has, or may have had, the lane since the last look. */
export function createLaneLease(deps: LaneLeaseDeps, onChange: () => void): Hold {
  const { database, settings, realClock, log } = deps;
  const { address } = deps.signer;
  let held: { epoch: number; sinceMs: number } | undefined;
  const giveBack = async () => {
    const released = releaseLane(database.db, { address, owner: deps.owner }).then(
      () => true,
      (error: unknown) => {
        if (isDatabaseUnavailable(error)) return false;
        throw error;
      },
    );
    if (await within(RELEASE_MS, released)) return;
    const { purpose, leaseMs } = settings;
    log.warn(
      { lane: address, purpose },
      `the database is away: a lane is not given back; its lease ends by itself within ${formatDuration(leaseMs)}`,
    );
  };
  return {
    async epoch() {
      const nowMs = realClock.now();
      const { leaseMs, purpose } = settings;
      // While it is fresh, the row need not be asked. A clock that was set back says nothing of how fresh it is.
      if (held && nowMs >= held.sinceMs && nowMs < held.sinceMs + leaseMs / 2) return held.epoch;
      const lease = { address, purpose, owner: deps.owner, now: database.now, forMs: leaseMs };
      const epoch = await runSingle(deps, (queries) => leaseLane(queries, lease));
      if (epoch === undefined) {
        held = undefined;
        onChange();
        return undefined;
      }
      if (epoch !== held?.epoch) {
        log.info({ lane: address, purpose, epoch }, 'this process sends for the lane now');
        onChange();
      }
      held = { epoch, sinceMs: nowMs };
      return epoch;
    },
    async release() {
      if (held) await giveBack();
      held = undefined;
      onChange();
    },
  };
}
