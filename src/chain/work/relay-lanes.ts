/** The lanes of the gas wallets: one for each wallet that has something to send, opened when it first has. */
import type { Hex } from 'viem';
import { type GasWallet, lanesWithTopUps, listGasWallets } from '../../ledger/relay/gas-wallets.ts';
import { lanesWithRelays } from '../../ledger/relay/queued-relays.ts';
import { lanesInFlight } from '../../ledger/transactions/transactions.ts';
import { createLane } from '../lane/lane.ts';
import { sharedCommits } from '../lane/shared-commits.ts';
import type { Lane, LaneDeps, LaneSettings, Signer } from '../lane/types.ts';
import { relayWork } from './relay-work.ts';

/** The keys of the gas wallets; null is the service's own. */
export type GasKeys = (keyIndex: number | null) => Signer;

export interface RelayLanesDeps extends Omit<LaneDeps, 'signer' | 'work' | 'settings'> {
  keys: GasKeys;
  /** A node has a call: its block may follow at once. */
  onSent: () => void;
  lane: Omit<LaneSettings, 'purpose'>;
}

export function createRelayLanes(deps: RelayLanesDeps) {
  const { db } = deps.database;
  // Lanes that have something to send at the same time store it together.
  const database = sharedCommits(deps.database);
  const opened = new Map<Hex, Lane>();

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
    const settings = { ...deps.lane, purpose: 'relay' as const };
    return createLane({ ...deps, database, sharesCommits: true, signer, work, settings });
  };

  return {
    opened,
    /** The lane of a wallet; undefined for an unknown wallet, or when the key does not belong to its address. */
    async at(address: Hex): Promise<Lane | undefined> {
      const known = opened.get(address);
      if (known) return known;
      const wallet = (await listGasWallets(db)).find((one) => one.address === address);
      const lane = wallet && open(wallet);
      if (lane) opened.set(address, lane);
      return lane;
    },
    /** Wallets with work: queued by other processes or an earlier run, or still on its way. */
    async withWork(): Promise<Hex[]> {
      const found = await Promise.all([lanesWithRelays(db), lanesWithTopUps(db), lanesInFlight(db, 'relay')]);
      return found.flat();
    },
  };
}
