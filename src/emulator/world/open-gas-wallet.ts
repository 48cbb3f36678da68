/** Gives a brand of the emulator its gas wallet, with the role that it needs and native currency. */
import { encodeFunctionData, type Hex } from 'viem';
import { perkNFTAbi } from '../../chain/contracts/abis.ts';
import { roleId } from '../../chain/contracts/deployment-steps.ts';
import { hasRole } from '../../chain/contracts/roles.ts';
import type { GasKeys } from '../../chain/work/relay-lanes.ts';
import { ensureGasWallet, setGasWalletReady } from '../../ledger/relay/gas-wallets.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { type PrepareChainDeps, type SetupCall, sendAsAdmin } from './prepare-chain.ts';

/** Lasts for a thousand calls at the emulator's prices. */
const OPENING_WEI = 10n * 10n ** 18n;

/** May run again: it leaves an existing role and balance alone. */
export async function openGasWallet(
  deps: PrepareChainDeps & { keys: GasKeys },
  wish: { brandId: BrandId; perks: Hex; nowMs: number },
): Promise<void> {
  const { database, chain, rpc, keys } = deps;
  const { brandId: payer, perks, nowMs } = wish;
  const addressAt = (keyIndex: number | null) => keys(keyIndex).address;
  const wallet = await database.atomically((tx) => ensureGasWallet(tx, { payer, addressAt, nowMs }));
  if (wallet.ready) return;
  const relayer = { contract: perks, role: 'RELAYER_ROLE', account: wallet.address };
  const calls: SetupCall[] = [];
  if (!(await hasRole(rpc, relayer))) {
    const args = [roleId(relayer.role), relayer.account] as const;
    const grant = encodeFunctionData({ abi: perkNFTAbi, functionName: 'grantRole', args });
    calls.push({ to: perks, data: grant });
  }
  if ((await chain.balanceWei(wallet.address)) === 0n) calls.push({ to: wallet.address, value: OPENING_WEI });
  await sendAsAdmin(deps, calls);
  await setGasWalletReady(database.db, payer, true);
}
