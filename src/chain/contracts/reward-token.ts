/** The reward token as the service reads it. */
import { encodeFunctionData, type Hex, hexToBigInt } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { rewardTokenAbi } from './abis.ts';

export interface RewardToken {
  /** Whole RWT of an account, in the newest block. */
  balanceOf(account: Hex): Promise<bigint>;
}

/** Reads the token's decimals once, so that amounts come out in whole RWT whatever they are. */
export function createRewardToken(deps: { rpc: Rpc; address: Hex }): RewardToken {
  const call = async (data: Hex) =>
    hexToBigInt((await deps.rpc('eth_call', [{ to: deps.address, data }, 'latest'])) as Hex);
  let unit: Promise<bigint> | undefined;
  const oneToken = async () => {
    unit ??= call(encodeFunctionData({ abi: rewardTokenAbi, functionName: 'decimals' })).then(
      (digits) => 10n ** digits,
    );
    return unit.catch((error: unknown) => {
      unit = undefined;
      throw error;
    });
  };
  return {
    async balanceOf(account) {
      const data = encodeFunctionData({ abi: rewardTokenAbi, functionName: 'balanceOf', args: [account] });
      return (await call(data)) / (await oneToken());
    },
  };
}
