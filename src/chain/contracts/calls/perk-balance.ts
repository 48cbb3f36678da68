/** How many of a perk an account holds. */
import type { Hex } from 'viem';
import type { Rpc } from '../../rpc/rpc.ts';
import { perkNFTAbi } from '../abis.ts';
import { readContract } from '../read-contract.ts';

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
