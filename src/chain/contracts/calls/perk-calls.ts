/**
 * What PerkNFT is told, redemptions (once for each key) and the terms of perks, and what it says: terms, stock, who
 * holds how many.
 */
import { encodeFunctionData, type Hex, keccak256, maxUint256, stringToHex } from 'viem';
import type { KeptPermit } from '../../../ledger/schema/engagement/perks.ts';
import { isUnlimited } from '../../../rules/brands/brand.ts';
import type { PerkTerms } from '../../../rules/perks/perk.ts';
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

// What PerkNFT is told of a perk; its sender needs `PERK_ADMIN_ROLE`.

/** An upper bound in gas: four slots that were empty, and an event. */
export const PERK_TERMS_GAS_LIMIT = 160_000n;

export function perkTermsData(of: PerkTerms & { tokenId: number; brandId: Hex }): Hex {
  const { kind, brandId, active, stock } = of;
  const [tokenId, price] = [BigInt(of.tokenId), BigInt(of.price)];
  if (kind === 'stock')
    return encodeFunctionData({
      abi: perkNFTAbi,
      functionName: 'changeStock',
      args: [tokenId, BigInt(stock)],
    });
  if (kind === 'terms')
    return encodeFunctionData({
      abi: perkNFTAbi,
      functionName: 'setPerkTerms',
      args: [tokenId, price, brandId, active],
    });
  const left = isUnlimited(stock) ? maxUint256 : BigInt(stock);
  return encodeFunctionData({
    abi: perkNFTAbi,
    functionName: 'setPerk',
    args: [tokenId, price, left, brandId, active],
  });
}

/** What the contract says of perks: how many are left, and how many somebody holds. */
export interface PerkContract {
  /** How many are left to sell, in the newest block; -1: no limit. */
  stockOf(tokenId: number): Promise<number>;
  /** How many an account holds. */
  heldBy(account: Hex, tokenId: number): Promise<number>;
}

export function createPerkContract({ rpc, address }: { rpc: Rpc; address: Hex }): PerkContract {
  const perks = { address, abi: perkNFTAbi };
  return {
    async stockOf(tokenId) {
      const args = [BigInt(tokenId)] as const;
      const { stock } = await readContract(rpc, { ...perks, functionName: 'perkOf', args });
      return stock > BigInt(Number.MAX_SAFE_INTEGER) ? -1 : Number(stock);
    },
    async heldBy(account, tokenId) {
      const args = [account, BigInt(tokenId)] as const;
      return Number(await readContract(rpc, { ...perks, functionName: 'balanceOf', args }));
    },
  };
}

/** In the newest block; rejects when the node gives no usable answer. */
export const perksHeld = (
  { rpc, perks }: { rpc: Rpc; perks: Hex },
  { address, tokenId }: { address: Hex; tokenId: number },
): Promise<bigint> =>
  readContract(rpc, {
    address: perks,
    abi: perkNFTAbi,
    functionName: 'balanceOf',
    args: [address, BigInt(tokenId)],
  });
