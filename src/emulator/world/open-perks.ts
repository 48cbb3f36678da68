/** Puts a fixture's perks on sale on the emulator's chain. */
import { type Address, encodeFunctionData, maxUint256, zeroAddress } from 'viem';
import { perkNFTAbi } from '../../chain/contracts/abis.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import { isUnlimited } from '../../rules/brands/brand.ts';
import { type PrepareChainDeps, type SetupCall, sendAsAdmin } from './prepare-chain.ts';

interface PerkOnSale {
  tokenId: number;
  brandId: Address;
  /** RWT. */
  cost: number;
  /** -1: it never runs out. */
  stock: number;
}

/** Perks that are on the chain already stay unchanged. */
export async function openPerks(
  deps: PrepareChainDeps,
  contract: Address,
  perks: PerkOnSale[],
): Promise<void> {
  const calls: SetupCall[] = [];
  for (const { tokenId, brandId, cost, stock } of perks) {
    const perkOf = { functionName: 'perkOf', args: [BigInt(tokenId)] } as const;
    const { brand } = await readContract(deps.rpc, { address: contract, abi: perkNFTAbi, ...perkOf });
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
