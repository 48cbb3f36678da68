/** Keeps the payout lane going: turn after turn while rewards wait. */
import { createLoop } from '../../lib/loop.ts';
import { createLane } from '../lane/lane.ts';
import { createPace } from '../lane/pace.ts';
import type { LaneDeps, LaneSettings } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';
import type { RewardWaiters } from '../waiting/reward-waiters.ts';
import { payoutWork } from './payout-work.ts';

interface PayoutsDeps extends Omit<LaneDeps, 'work' | 'settings'> {
  progress: Pick<RewardWaiters, 'carried' | 'sent'>;
  rpc: Rpc;
  escrow: `0x${string}`;
  /** A node has a batch: its block may follow at once. */
  onSent: () => void;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax' | 'offerMaxWei'>;
  settings: PayoutsSettings;
}

export interface PayoutsSettings {
  batchMax: number;
  offerMaxWei: bigint;
  idlePollMs: number;
  /**
   * How long the next batch waits, at most, until the block of the one before is booked: where blocks come at once, what
   * is decided meanwhile shares a block. Without it, it does not wait.
   */
  blockWaitMs?: number;
}

export function createPayouts(deps: PayoutsDeps) {
  const { progress, escrow, onSent, settings, log, realClock } = deps;
  const { blockWaitMs = 0 } = settings;
  let unbooked: { id: string; sinceMs: number } | undefined;
  const pace = createPace({ chain: deps.chain, inFlightMax: deps.lane.inFlightMax, nowMs: realClock.now });
  const isBlockAwaited = () => unbooked !== undefined && realClock.now() - unbooked.sinceMs < blockWaitMs;
  const watched: typeof progress = {
    carried(transaction) {
      progress.carried(transaction);
      pace.stored();
      unbooked = { id: transaction.id, sinceMs: realClock.now() };
    },
    sent(transaction) {
      progress.sent(transaction);
      onSent();
    },
  };
  const { batchMax, offerMaxWei } = settings;
  const work = payoutWork({
    settings: { escrow, batchMax, offerMaxWei },
    account: deps.signer.address,
    rpc: deps.rpc,
    progress: watched,
  });
  const lane = createLane({
    ...deps,
    chain: pace.chain,
    work,
    settings: { ...deps.lane, purpose: 'payout', storeMax: 1, offerMaxWei },
  });
  const loop = createLoop({
    name: 'payouts',
    async turn() {
      if (isBlockAwaited() || pace.waitMs() > 0) return 'idle';
      const outcome = await lane.turn();
      return (await work.tryOut()) ? 'worked' : outcome;
    },
    pauseMs: () => pace.waitMs() || settings.idlePollMs,
    log,
  });
  return {
    /** Rewards wait, or there may be room for more. */
    nudge: loop.nudge,
    /** A block with this transaction is booked. */
    onIncluded(transactionId: string) {
      if (unbooked?.id === transactionId) unbooked = undefined;
      loop.nudge();
    },
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
