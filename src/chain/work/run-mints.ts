/** Keeps the mint lane going: turn after turn while mints wait. */
import { createLoop } from '../../lib/loop.ts';
import { createLane } from '../lane/lane.ts';
import type { LaneDeps, LaneSettings } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { mintWork } from './mint-work.ts';

export interface MintsSettings {
  /** Mints that are tried out and signed together at most, each in a transaction of its own. */
  storeMax: number;
  idlePollMs: number;
  /** How long mints that the sale refuses wait until they are tried out again. */
  refusedRetryMs: number;
}

interface MintsDeps extends Omit<LaneDeps, 'work' | 'settings'> {
  rpc: Rpc;
  pointsSale: `0x${string}`;
  /** A node has a mint: its block may follow at once. */
  onSent: () => void;
  /** A mint was given up: its callers need not wait. */
  onGivenUp: () => void;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
  settings: MintsSettings;
}

export function createMints(deps: MintsDeps) {
  const { storeMax, idlePollMs, refusedRetryMs } = deps.settings;
  const account = deps.signer.address;
  const work = mintWork({ ...deps, account, refusedRetryMs, batchMax: storeMax });
  const lane = createLane({ ...deps, work, settings: { ...deps.lane, purpose: 'mint', storeMax } });
  const loop = createLoop({
    name: 'mints',
    async turn() {
      // What is in flight is looked after even while nothing can be tried out.
      const tried = work.tryOut();
      const [trial, turn] = await Promise.allSettled([tried, tried.catch(() => {}).then(lane.turn)]);
      if (trial.status === 'rejected') throw trial.reason;
      if (turn.status === 'rejected') throw turn.reason;
      return turn.value;
    },
    pauseMs: () => idlePollMs,
    log: deps.log,
  });
  return {
    /** Mints wait, or there may be room for more. */
    nudge: loop.nudge,
    /** Blocks were taken back. */
    reload() {
      lane.reload();
      loop.nudge();
    },
    start: loop.start,
    async stop() {
      await loop.stop();
      await lane.release();
    },
  };
}
