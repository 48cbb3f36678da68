/**
 * The reward token as the service reads it: balances, and what it lets the escrow collect without its holders'
 * allowance.
 */
import type { Hex } from 'viem';
import type { Rpc } from '../rpc/rpc.ts';
import { rewardTokenAbi } from './abis.ts';
import { collectingOf, redeemingOf } from './artifacts.ts';
import type { ContractAddresses } from './deployment-steps.ts';
import { readContract } from './read-contract.ts';

/** The reward token as the service reads it. */
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

/** In whole RWT. `resetsAtSeconds`: when all of the cap may be collected again. */
export interface CollectCap {
  cap: bigint;
  left: bigint;
  resetsAtSeconds: number;
}

/** In `block`, by default the newest, of a token that has one. */
export async function readCollectCap(
  { rpc, token }: { rpc: Rpc; token: Hex },
  block?: number,
): Promise<CollectCap> {
  const call = { address: token, abi: rewardTokenAbi, functionName: 'collectCap' } as const;
  const [cap, left, resetsAt] = await readContract(rpc, call, block);
  return { cap, left, resetsAtSeconds: Number(resetsAt) };
}

const codeAt = async (rpc: Rpc, address: Hex) => (await rpc('eth_getCode', [address, 'latest'])) as Hex;

/** Whether the token has a cap for what is collected without an allowance: tokens of earlier versions have none. */
export const hasCollectCap = async ({ rpc, token }: { rpc: Rpc; token: Hex }): Promise<boolean> =>
  collectingOf(await codeAt(rpc, token)) === 'capped';

/** What these contracts can do, which never changes: asked for once, and again where no node answered. */
export function createCollecting(deps: { rpc: Rpc; contracts: Pick<ContractAddresses, 'token' | 'perks'> }) {
  const { rpc, contracts } = deps;
  const once = <T>(ask: () => Promise<T>) => {
    let asked: Promise<T> | undefined;
    return () => {
      asked ??= ask();
      return asked.catch((error: unknown) => {
        asked = undefined;
        throw error;
      });
    };
  };
  const isCapped = once(() => hasCollectCap({ rpc, token: contracts.token }));
  const takesPermits = once(async () => {
    const perks = await codeAt(rpc, contracts.perks);
    return redeemingOf(perks) === 'with-permits' && (await isCapped());
  });
  return {
    /** Whether a redemption may come with the user's permit. */
    takesPermits,
    /** Undefined for a token without a cap. */
    async capIn(block: number): Promise<CollectCap | undefined> {
      return (await isCapped()) ? readCollectCap({ rpc, token: contracts.token }, block) : undefined;
    },
  };
}
