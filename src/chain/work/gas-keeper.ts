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
import { dearestCallGas } from '../../rules/relay-policy.ts';
import type { Alarms } from '../alarms.ts';
import { hasRole } from '../contracts/roles.ts';
import { type FeePolicy, priceTransaction } from '../lane/fees.ts';
import type { ChainClient } from '../rpc/client.ts';
import type { Rpc } from '../rpc/rpc.ts';
import type { GasKeys } from './relay-lanes.ts';

export interface GasKeeperDeps {
  database: Database;
  chain: Pick<ChainClient, 'balanceWei' | 'block'>;
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
    fees: FeePolicy;
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
  const callWei = await dearestCallWei(deps);
  const failures: unknown[] = [];
  // One wallet that cannot be filled up must not hold up the others.
  for (const wallet of wallets)
    await tend(deps, wallet, { own, callWei }).catch((error: unknown) => void failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** What the dearest call may cost at the present price; at the cap while that is exceeded. */
async function dearestCallWei({ chain, settings: { fees } }: GasKeeperDeps): Promise<bigint> {
  const latest = await chain.block('latest');
  const price = latest && priceTransaction(latest.baseFeeWei, fees);
  return BigInt(dearestCallGas) * (price?.maxFeePerGas ?? fees.feeCapWei);
}

async function tend(
  deps: GasKeeperDeps,
  wallet: GasWallet,
  { own, callWei }: { own: GasWallet | undefined; callWei: bigint },
): Promise<void> {
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
  // With less, what a user asks for would wait behind the top-up; the service's own wallet can send it now.
  const ready = mayRelay && balanceWei >= callWei;
  if (ready !== wallet.ready) await setGasWalletReady(database.db, payer, ready);
}
