/** Keeps the gas wallets fit to send: sees which may do their work, and asks for native currency where it runs low. */
import type { Hex } from 'viem';
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import {
  ensureGasWallet,
  type GasWallet,
  listGasWallets,
  requestTopUp,
  setGasWalletReady,
} from '../../ledger/relay/gas-wallets.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { Alarms } from '../alarms.ts';
import { hasRole } from '../contracts/roles.ts';
import type { ChainClient } from '../rpc/client.ts';
import type { Rpc } from '../rpc/rpc.ts';
import type { GasKeys } from './relay-lanes.ts';

export interface GasKeeperDeps {
  database: Database;
  chain: Pick<ChainClient, 'balanceWei'>;
  rpc: Rpc;
  keys: GasKeys;
  perks: Hex;
  clock: Clock;
  random: Random;
  alarms: Alarms;
  /** Something waits for this wallet. */
  nudge: (lane: Hex) => void;
  settings: {
    /** Below this a wallet is topped up; the account that pays for the top-ups raises an alarm instead. */
    lowWei: bigint;
    /** The balance that a top-up brings a wallet to. */
    fullWei: bigint;
  };
}

/** Looks at every gas wallet once; gives each payer without a wallet its own. */
export async function tendGasWallets(deps: GasKeeperDeps): Promise<void> {
  const { database, clock, keys } = deps;
  const known = new Set((await listGasWallets(database.db)).map(({ payer }) => payer));
  const payers = ['service' as const, ...(await listBrands(database.db)).map(({ brandId }) => brandId)];
  for (const payer of payers.filter((one) => !known.has(one))) {
    const addressAt = (keyIndex: number | null) => keys(keyIndex).address;
    await database.atomically((tx) => ensureGasWallet(tx, { payer, addressAt, nowMs: clock.now() }));
  }
  const wallets = await listGasWallets(database.db);
  const own = wallets.find(({ payer }) => payer === 'service');
  for (const wallet of wallets) await tend(deps, wallet, own);
}

async function tend(deps: GasKeeperDeps, wallet: GasWallet, own: GasWallet | undefined): Promise<void> {
  const { database, chain, alarms, settings } = deps;
  const { payer, address } = wallet;
  const mayRelay = await hasRole(deps.rpc, { contract: deps.perks, role: 'RELAYER_ROLE', account: address });
  // A brand's wallet without the role sends nothing, so it needs nothing.
  const balanceWei = mayRelay || payer === 'service' ? await chain.balanceWei(address) : 0n;
  if (payer === 'service') {
    if (balanceWei < settings.lowWei)
      alarms.raise('gas_reserve_low', address, { balanceWei: String(balanceWei) });
    else alarms.clear('gas_reserve_low', address);
  } else if (own && mayRelay && balanceWei < settings.lowWei) {
    const amountWei = settings.fullWei - balanceWei;
    const wish = { id: deps.random.uuid(), lane: own.address, wallet: address, amountWei };
    const asked = await database.atomically((tx) => requestTopUp(tx, { ...wish, nowMs: deps.clock.now() }));
    if (asked) deps.nudge(own.address);
  }
  const ready = mayRelay && balanceWei > 0n;
  if (ready !== wallet.ready) await setGasWalletReady(database.db, payer, ready);
}
