/** What the contract says of perks: how many are left, and how many somebody holds. */
import type { Hex } from 'viem';
import type { Rpc } from '../../rpc/rpc.ts';
import { perkNFTAbi } from '../abis.ts';
import { readContract } from '../read-contract.ts';

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
