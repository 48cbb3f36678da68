/** Keeps a lane going whose calls are tried out first: turn after turn while any wait. */
import type { LanePurpose } from '../../ledger/schema/transactions.ts';
import { createLoop } from '../../lib/loop.ts';
import { createLane } from '../lane/lane.ts';
import type { LaneDeps, LaneSettings } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';
import type { SimulatedWork, SimulatedWorkDeps } from './simulated-work.ts';

export interface TriedLaneSettings {
  /** Calls that are tried out and signed together at most, each in a transaction of its own. */
  storeMax: number;
  idlePollMs: number;
  /** How long a call that the contract refuses waits until it is tried out again; each time twice as long … */
  refusedRetryMs: number;
  /** … up to this. */
  refusedRetryMaxMs: number;
}

export interface TriedLaneDeps extends Omit<LaneDeps, 'work' | 'settings'> {
  rpc: Rpc;
  /** A node has a call: its block may follow at once. */
  onSent: () => void;
  /** A call was given up: its callers need not wait. */
  onGivenUp: () => void;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
  settings: TriedLaneSettings;
}

export function createTriedLane(
  deps: TriedLaneDeps,
  of: {
    name: string;
    purpose: LanePurpose;
    workOf: (deps: Omit<SimulatedWorkDeps, 'queue'>) => SimulatedWork;
  },
) {
  const { storeMax, idlePollMs, refusedRetryMs, refusedRetryMaxMs } = deps.settings;
  const pauses = { refusedRetryMs, refusedRetryMaxMs };
  const work = of.workOf({ ...deps, ...pauses, account: deps.signer.address, batchMax: storeMax });
  const lane = createLane({ ...deps, work, settings: { ...deps.lane, purpose: of.purpose, storeMax } });
  const loop = createLoop({
    name: of.name,
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
    /** Calls wait, or there may be room for more. */
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
