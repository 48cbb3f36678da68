/** Keeps the payout lane going: turn after turn while rewards wait. */
import { createLoop } from '../../lib/loop.ts';
import { createLane } from '../lane/lane.ts';
import type { LaneDeps, LaneSettings } from '../lane/types.ts';
import type { RewardProgressBoard } from '../waiting/reward-outcome.ts';
import { payoutWork } from './payout-work.ts';

interface PayoutsDeps extends Omit<LaneDeps, 'work' | 'settings'> {
  progress: Pick<RewardProgressBoard, 'carried' | 'sent'>;
  escrow: `0x${string}`;
  /** A node has a batch: its block may follow at once. */
  onSent: () => void;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax' | 'offerMaxWei'>;
  settings: { batchMax: number; offerMaxWei: bigint; idlePollMs: number };
}

export function createPayouts(deps: PayoutsDeps) {
  const { progress, escrow, onSent, settings, log } = deps;
  const work = payoutWork({
    settings: { escrow, batchMax: settings.batchMax, offerMaxWei: settings.offerMaxWei },
    progress: {
      carried: progress.carried,
      sent(transaction) {
        progress.sent(transaction);
        onSent();
      },
    },
  });
  const { offerMaxWei } = settings;
  const lane = createLane({
    ...deps,
    work,
    settings: { ...deps.lane, purpose: 'payout', storeMax: 1, offerMaxWei },
  });
  const loop = createLoop({
    name: 'payouts',
    turn: () => lane.turn(),
    pauseMs: () => settings.idlePollMs,
    log,
  });
  return {
    /** Rewards wait, or there may be room for more. */
    nudge: loop.nudge,
    /** Blocks were taken back. */
    reload() {
      lane.reload();
      loop.nudge();
    },
    start: loop.start,
    stop: loop.stop,
    /** Releases the lane, so that another process can take it at once. */
    release: lane.release,
  };
}
