/** What the token lets the escrow collect without its holders' allowance, and what PerkNFT takes with a redemption. */
import type { Hex } from 'viem';
import type { Rpc } from '../../rpc/rpc.ts';
import { rewardTokenAbi } from '../abis.ts';
import { collectingOf, redeemingOf } from '../artifacts.ts';
import type { ContractAddresses } from '../deployment-steps.ts';
import { readContract } from '../read-contract.ts';

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
