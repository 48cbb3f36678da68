/** Redemptions of perks, which happen once for each key, and what the chain says of a perk. */
import { encodeFunctionData, type Hex, keccak256, stringToHex } from 'viem';
import type { KeptPermit } from '../../../ledger/schema/engagement/redemptions.ts';
import type { Rpc } from '../../rpc/rpc.ts';
import { perkNFTAbi } from '../abis.ts';
import { readContract } from '../read-contract.ts';

/** The key on chain of a redemption, from its id in the ledger. */
export const redemptionKey = (id: string): Hex => keccak256(stringToHex(id));

/**
 * Upper bounds in gas, above the dearest cases that test/solidity/gas.test.ts builds: a first perk, paid to a new brand,
 * and the same with a first permit.
 */
export const REDEMPTION_GAS_LIMIT = 280_000n;
export const REDEMPTION_WITH_PERMIT_GAS_LIMIT = 350_000n;

/**
 * What PerkNFT is sent, whose sender needs `REDEEMER_ROLE`. `cost`: the most that may be collected, in whole RWT.
 * `permit`: the user's own, where one pays.
 */
export function redemptionCall(of: {
  key: Hex;
  wallet: Hex;
  tokenId: number;
  cost: number;
  permit?: KeptPermit | null | undefined;
}): { data: Hex; gas: bigint } {
  const { permit } = of;
  const args = [of.key, of.wallet, BigInt(of.tokenId), BigInt(of.cost)] as const;
  if (!permit) {
    const data = encodeFunctionData({ abi: perkNFTAbi, functionName: 'redeem', args });
    return { data, gas: REDEMPTION_GAS_LIMIT };
  }
  const { v, r, s } = permit;
  const signed = { value: BigInt(permit.value), deadline: BigInt(permit.deadlineSeconds), v, r, s };
  const data = encodeFunctionData({
    abi: perkNFTAbi,
    functionName: 'redeemWithPermit',
    args: [...args, signed],
  });
  return { data, gas: REDEMPTION_WITH_PERMIT_GAS_LIMIT };
}

/** A perk as the chain has it; `stock`: how many are left, undefined without a limit. */
export interface ChainPerk {
  price: bigint;
  stock: bigint | undefined;
  brand: Hex;
  active: boolean;
}

/** The terms of a perk in `block`; all zero when it was never set. */
export async function readChainPerk(
  { rpc, perks }: { rpc: Rpc; perks: Hex },
  { tokenId, block }: { tokenId: number; block?: number | undefined },
): Promise<ChainPerk> {
  const call = { address: perks, abi: perkNFTAbi, functionName: 'perkOf', args: [BigInt(tokenId)] } as const;
  const { price, stock, brand, active } = await readContract(rpc, call, block);
  return { price, brand, active, stock: stock === 2n ** 256n - 1n ? undefined : stock };
}
