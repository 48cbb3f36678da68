/** Keeps the gas wallets going: turns the lanes that have something to send, and sees that the wallets can send it. */
import type { Hex } from 'viem';
import { createFailureLog } from '../../lib/failures/failure-log.ts';
import { createLoop } from '../../lib/loop.ts';
import type { LaneSettings } from '../lane/types.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { type GasKeeperDeps, tendGasWallets } from './gas-keeper.ts';
import { createRelayLanes, type RelayLanesDeps } from './relay-lanes.ts';

export interface RelaysSettings {
  storeMax: number;
  /** How often the ledger is asked which lanes have work. */
  idlePollMs: number;
  gasCheckMs: number;
  gasLowWei: bigint;
  gasFullWei: bigint;
}

interface RelaysDeps extends Omit<RelayLanesDeps, 'lane'> {
  rpc: Rpc;
  perks: Hex;
  lane: Omit<LaneSettings, 'purpose' | 'storeMax'>;
  settings: RelaysSettings;
}

export function createRelays(deps: RelaysDeps) {
  const { storeMax, gasCheckMs, gasLowWei, gasFullWei } = deps.settings;
  const lanes = createRelayLanes({ ...deps, lane: { ...deps.lane, storeMax } });
  const sending = createSending(deps, lanes);
  const keeping: GasKeeperDeps = {
    ...deps,
    nudge: sending.nudge,
    settings: { lowWei: gasLowWei, fullWei: gasFullWei, fees: deps.lane.fees },
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
    /** Something waits for this wallet. */
    nudge: sending.nudge,
    /** Blocks were read, so that there may be room for more. */
    onIncluded: sending.onIncluded,
    /** Blocks were taken back. */
    reload: sending.reload,
    async start() {
      // Before the first request: which wallet sends for whom is read from the ledger.
      await tendGasWallets(keeping);
      sending.start();
      keeper.start();
    },
    async stop() {
      await keeper.stop();
      await sending.stop();
    },
  };
}

/** Turns, in one loop, every lane that may have work. */
function createSending({ settings, realClock, log }: RelaysDeps, lanes: ReturnType<typeof createRelayLanes>) {
  let wanted = new Set<Hex>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;

  const scan = async () => {
    if (realClock.now() - scannedAtMs < settings.idlePollMs) return;
    for (const address of await lanes.withWork()) wanted.add(address);
    scannedAtMs = realClock.now();
  };
  const failures = createFailureLog({ what: 'sending for a gas wallet', log });
  const turnOf = async (address: Hex) => {
    const outcome = await (await lanes.at(address))?.turn();
    if (outcome === 'worked') wanted.add(address);
  };
  const loop = createLoop({
    name: 'relays',
    async turn() {
      await scan();
      const now = [...wanted];
      wanted = new Set();
      const outcomes = await Promise.allSettled(now.map(turnOf));
      const failed = outcomes.filter((one) => one.status === 'rejected');
      const [first] = failed;
      // Where all fail there is nothing to go on with; one payer whose wallet fails does not slow down the others.
      if (first && failed.length === now.length) throw first.reason;
      if (first) failures.failed(first.reason, 'its calls are looked for again');
      else if (now.length > 0) failures.worked();
      return wanted.size > 0 ? 'worked' : 'idle';
    },
    pauseMs: () => settings.idlePollMs,
    log,
  });
  return {
    nudge(lane: Hex) {
      wanted.add(lane);
      loop.nudge();
    },
    onIncluded() {
      // A gas wallet that was at its limit of transactions in flight may send again.
      for (const address of lanes.opened.keys()) wanted.add(address);
      loop.nudge();
    },
    reload() {
      for (const lane of lanes.opened.values()) lane.reload();
      loop.nudge();
    },
    start: loop.start,
    async stop() {
      await loop.stop();
      await Promise.all([...lanes.opened.values()].map((lane) => lane.release()));
    },
  };
}
