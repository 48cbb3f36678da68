/** Wires the relay's side of the chain engine: the gas wallets' lanes, and what keeps those wallets fit to send. */

import { createLoop } from '../../lib/loop.ts';
import type { LaneDeps, LaneSettings } from '../lane/lane.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { type GasKeeperDeps, tendGasWallets } from './gas-keeper.ts';
import { createRelayLanes, type GasKeys } from './relay-lanes.ts';

export interface RelayingSettings {
  storeMax: number;
  idlePollMs: number;
  gasCheckMs: number;
  gasLowWei: bigint;
  gasFullWei: bigint;
}

export interface RelayingDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  rpc: Rpc;
  keys: GasKeys;
  perks: `0x${string}`;
  /** A node has a call. */
  onSent: () => void;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
  settings: RelayingSettings;
}

export function createRelaying(deps: RelayingDeps) {
  const { storeMax, idlePollMs, gasCheckMs, gasLowWei, gasFullWei } = deps.settings;
  const lanes = createRelayLanes({ ...deps, settings: { ...deps.lane, storeMax, idlePollMs } });
  const keeping: GasKeeperDeps = {
    ...deps,
    nudge: lanes.nudge,
    settings: { lowWei: gasLowWei, fullWei: gasFullWei },
  };
  const keeper = createLoop({
    name: 'gas wallets',
    async turn() {
      await tendGasWallets(keeping);
      return 'idle';
    },
    pauseMs: () => gasCheckMs,
    log: deps.log,
  });
  return {
    ...lanes,
    async start() {
      // Before the first request: which wallet sends for whom is read from the ledger.
      await tendGasWallets(keeping);
      lanes.start();
      keeper.start();
    },
    async stop() {
      await keeper.stop();
      await lanes.stop();
    },
  };
}
