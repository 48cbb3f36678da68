/** Puts a fixture's perks on sale on the emulator's chain. */
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  maxUint256,
  zeroAddress,
} from 'viem';
import { perkNFTAbi } from '../../chain/contracts/abis.ts';
import { isUnlimited } from '../../rules/brands/brand.ts';
import { type PrepareChainDeps, type SetupCall, sendAsAdmin } from './prepare-chain.ts';

export interface PerkOnSale {
  tokenId: number;
  brandId: Address;
  /** RWT. */
  cost: number;
  /** -1: it never runs out. */
  stock: number;
}

/** Those that are on the chain already stay as they are: the fixture is where they began. */
export async function openPerks(
  deps: PrepareChainDeps,
  contract: Address,
  perks: PerkOnSale[],
): Promise<void> {
  const calls: SetupCall[] = [];
  for (const { tokenId, brandId, cost, stock } of perks) {
    const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'perkOf', args: [BigInt(tokenId)] });
    const answer = (await deps.rpc('eth_call', [{ to: contract, data }, 'latest'])) as Hex;
    const { brand } = decodeFunctionResult({ abi: perkNFTAbi, functionName: 'perkOf', data: answer });
    if (brand !== zeroAddress) continue;
    const left = isUnlimited(stock) ? maxUint256 : BigInt(stock);
    const args = [BigInt(tokenId), BigInt(cost), left, brandId, true] as const;
    calls.push({
      to: contract,
      data: encodeFunctionData({ abi: perkNFTAbi, functionName: 'setPerk', args }),
    });
  }
  await sendAsAdmin(deps, calls);
}
