/** The gas wallets at work: a lane for each that has something to send, all turned by one loop. */
import type { Hex } from 'viem';
import { type GasWallet, lanesWithTopUps, listGasWallets } from '../../ledger/relay/gas-wallets.ts';
import { lanesWithRelays } from '../../ledger/relay/queued-relays.ts';
import { lanesInFlight } from '../../ledger/transactions/transactions.ts';
import { createLoop } from '../../lib/loop.ts';
import { createLane, type Lane, type LaneDeps, type LaneSettings } from '../lane/lane.ts';
import type { Signer } from '../lane/signer.ts';
import { relayWork } from './relay-work.ts';

/** The keys of the gas wallets; null is the service's own. */
export type GasKeys = (keyIndex: number | null) => Signer;

export interface RelayLanesDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  keys: GasKeys;
  /** A node has a call: its block may follow at once. */
  onSent: () => void;
  settings: Omit<LaneSettings, 'purpose'> & {
    /** How often the ledger is asked which lanes have work. */
    idlePollMs: number;
  };
}

export interface RelayLanes {
  /** Something waits for this wallet. */
  nudge(lane: Hex): void;
  /** Blocks were read, so that there may be room for more. */
  onIncluded(): void;
  /** Blocks were taken back. */
  reload(): void;
  start(): void;
  stop(): Promise<void>;
}

export function createRelayLanes(deps: RelayLanesDeps): RelayLanes {
  const { db } = deps.database;
  const { idlePollMs, ...laneSettings } = deps.settings;
  const lanes = new Map<Hex, Lane>();
  let wanted = new Set<Hex>();
  let scannedAtMs = Number.NEGATIVE_INFINITY;

  const open = (wallet: GasWallet): Lane | undefined => {
    const signer = deps.keys(wallet.keyIndex);
    if (signer.address.toLowerCase() !== wallet.address.toLowerCase()) {
      deps.alarms.raise('gas_wallet_key', wallet.address, { keyIndex: wallet.keyIndex });
      return undefined;
    }
    const work = relayWork({
      lane: signer.address,
      fundsOthers: wallet.payer === 'service',
      onSent: deps.onSent,
    });
    return createLane({ ...deps, signer, work, settings: { ...laneSettings, purpose: 'relay' } });
  };
  const laneAt = async (address: Hex): Promise<Lane | undefined> => {
    const known = lanes.get(address);
    if (known) return known;
    const wallet = (await listGasWallets(db)).find((one) => one.address === address);
    const lane = wallet && open(wallet);
    if (lane) lanes.set(address, lane);
    return lane;
  };
  /** Work of other processes, of an earlier run, and whatever is still on its way. */
  const scan = async () => {
    if (deps.realClock.now() - scannedAtMs < idlePollMs) return;
    const found = await Promise.all([lanesWithRelays(db), lanesWithTopUps(db), lanesInFlight(db, 'relay')]);
    for (const address of found.flat()) wanted.add(address);
    scannedAtMs = deps.realClock.now();
  };

  const loop = createLoop({
    name: 'relays',
    async turn() {
      await scan();
      const now = [...wanted];
      wanted = new Set();
      const outcomes = await Promise.allSettled(
        now.map(async (address) => {
          const outcome = await (await laneAt(address))?.turn();
          if (outcome === 'worked') wanted.add(address);
          return outcome;
        }),
      );
      for (const one of outcomes) if (one.status === 'rejected') throw one.reason;
      return wanted.size > 0 ? 'worked' : 'idle';
    },
    pauseMs: () => idlePollMs,
    log: deps.log,
  });

  return {
    nudge(lane) {
      wanted.add(lane);
      loop.nudge();
    },
    onIncluded() {
      // Whoever was at its limit of transactions in flight may go on.
      for (const address of lanes.keys()) wanted.add(address);
      loop.nudge();
    },
    reload() {
      for (const lane of lanes.values()) lane.reload();
      loop.nudge();
    },
    start: () => loop.start(),
    async stop() {
      await loop.stop();
      for (const lane of lanes.values()) await lane.release();
    },
  };
}
