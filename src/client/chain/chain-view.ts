/** What accounts of a development stack own, straight from its chain: what really happened, whatever was answered. */
import { encodeEventTopics, numberToHex } from 'viem';
import { businessEscrowAbi, perkNFTAbi, rewardTokenAbi } from '../../chain/contracts/abis.ts';
import { readContract } from '../../chain/contracts/read-contract.ts';
import { createRpc, rpcLimits } from '../../chain/rpc/rpc.ts';
import type { Hex } from '../../lib/hex.ts';
import { countSessionMints } from './count-session-mints.ts';

export type ChainView = ReturnType<typeof openChainView>;

/** Amounts are whole RWT, as the token counts them. Throws when the node does not answer. */
export function openChainView(stack: { rpcUrl: string; contracts: Readonly<Record<string, string>> }) {
  const rpc = createRpc({ url: stack.rpcUrl, ...rpcLimits });
  const at = (name: string) => (stack.contracts[name] ?? '') as Hex;
  const head = async (): Promise<number> => Number(await rpc('eth_blockNumber', []));
  return {
    head,
    rwtOf: (account: string): Promise<bigint> =>
      readContract(rpc, {
        address: at('token'),
        abi: rewardTokenAbi,
        functionName: 'balanceOf',
        args: [account as Hex],
      }),
    /** What an account got less what it gave after a block: the node forgets the balances of older blocks, and keeps their logs. */
    async rwtSince(account: string, block: number): Promise<bigint> {
      // A node refuses a range that begins after its newest block.
      if ((await head()) <= block) return 0n;
      const transfers = async (args: { from?: Hex; to?: Hex }) => {
        const topics = encodeEventTopics({ abi: rewardTokenAbi, eventName: 'Transfer', args });
        const filter = { address: at('token'), topics, fromBlock: numberToHex(block + 1), toBlock: 'latest' };
        const logs = (await rpc('eth_getLogs', [filter])) as { data: Hex }[];
        return logs.reduce((sum, { data }) => sum + BigInt(data), 0n);
      };
      return (await transfers({ to: account as Hex })) - (await transfers({ from: account as Hex }));
    },
    escrowOf: (brandId: string): Promise<bigint> =>
      readContract(rpc, {
        address: at('escrow'),
        abi: businessEscrowAbi,
        functionName: 'balanceOf',
        args: [brandId as Hex],
      }),
    perksOf: (account: string, tokenId: bigint): Promise<bigint> =>
      readContract(rpc, {
        address: at('perks'),
        abi: perkNFTAbi,
        functionName: 'balanceOf',
        args: [account as Hex, tokenId],
      }),
    /** How often the chain has minted for a session of the payment processor. */
    async mintsOf(sessionId: string): Promise<number> {
      const counts = await countSessionMints(stack.rpcUrl, {
        pointsSale: at('pointsSale'),
        sessionIds: [sessionId],
      });
      return counts.get(sessionId) ?? 0;
    },
  };
}

/** `0x` takes its code from an account. Throws when the node does not answer, or has no such method. */
export async function setCode(rpcUrl: string, account: { address: string; code: Hex }): Promise<void> {
  const rpc = createRpc({ url: rpcUrl, ...rpcLimits });
  await rpc('anvil_setCode', [account.address, account.code]);
}
