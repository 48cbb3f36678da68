/** Gives a brand of the emulator its gas wallet, with the role that it needs and native currency. */
import { encodeFunctionData, type Hex } from 'viem';
import { ensureGasWallet, setGasWalletReady } from '../../ledger/relay/gas-wallets.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { perkNFTAbi } from '../contracts/abis.ts';
import { roleId } from '../contracts/deployment-steps.ts';
import { hasRole } from '../contracts/roles.ts';
import type { GasKeys } from '../work/relay-lanes.ts';
import { type PrepareChainDeps, type SetupCall, sendAsAdmin } from './prepare-chain.ts';

/** Lasts for a thousand calls at the emulator's prices. */
const OPENING_WEI = 10n * 10n ** 18n;

interface OpeningDeps extends PrepareChainDeps {
  keys: GasKeys;
}

interface GasWalletWish {
  brandId: BrandId;
  perks: Hex;
  nowMs: number;
}

/** May run again: it leaves an existing role and balance alone. */
export async function openGasWallet(deps: OpeningDeps, wish: GasWalletWish): Promise<void> {
  const { calls, opened } = await gasWalletCalls(deps, wish);
  await sendAsAdmin(deps, calls);
  await opened();
}

/** What a gas wallet lacks on chain; `opened` is for when the calls are in blocks. */
export async function gasWalletCalls(
  deps: OpeningDeps,
  { brandId: payer, perks, nowMs }: GasWalletWish,
): Promise<{ calls: SetupCall[]; opened: () => Promise<void> }> {
  const { database, chain, rpc, keys } = deps;
  const addressAt = (keyIndex: number | null) => keys(keyIndex).address;
  const wallet = await database.atomically((tx) => ensureGasWallet(tx, { payer, addressAt, nowMs }));
  if (wallet.ready) return { calls: [], opened: async () => undefined };
  const relayer = { contract: perks, role: 'RELAYER_ROLE', account: wallet.address };
  const [mayRelay, balanceWei] = await Promise.all([hasRole(rpc, relayer), chain.balanceWei(wallet.address)]);
  const calls: SetupCall[] = [];
  if (!mayRelay) {
    const args = [roleId(relayer.role), relayer.account] as const;
    const grant = encodeFunctionData({ abi: perkNFTAbi, functionName: 'grantRole', args });
    calls.push({ to: perks, data: grant });
  }
  if (balanceWei === 0n) calls.push({ to: wallet.address, value: OPENING_WEI });
  return { calls, opened: () => setGasWalletReady(database.db, payer, true) };
}
