/** The reward token as the service reads it. */
import type { Hex } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { rewardTokenAbi } from './abis.ts';
import { readContract } from './read-contract.ts';

export interface RewardToken {
  /** Whole RWT of an account, in the newest block. */
  balanceOf(account: Hex): Promise<bigint>;
}

/** Reads the token's decimals once, so that amounts come out in whole RWT whatever they are. */
export function createRewardToken(deps: { rpc: Rpc; address: Hex }): RewardToken {
  const token = { address: deps.address, abi: rewardTokenAbi };
  let unit: Promise<bigint> | undefined;
  const oneToken = async () => {
    unit ??= readContract(deps.rpc, { ...token, functionName: 'decimals' }).then(
      (digits) => 10n ** BigInt(digits),
    );
    return unit.catch((error: unknown) => {
      unit = undefined;
      throw error;
    });
  };
  return {
    async balanceOf(account) {
      const balance = await readContract(deps.rpc, { ...token, functionName: 'balanceOf', args: [account] });
      return balance / (await oneToken());
    },
  };
}
