/** How often the chain of a development stack has minted for paid sessions: what really happened, whatever was answered. */
import { encodeEventTopics, type Hex } from 'viem';
import { pointsSaleAbi } from '../../chain/contracts/abis.ts';
import { sessionMintKey } from '../../chain/contracts/sale-mint.ts';
import { createRpc } from '../../chain/rpc/rpc.ts';

/** A stack's chain has few blocks, so that one request reads them all. */
const LIMITS = { timeoutMs: 10_000, answerMaxBytes: 16 * 1024 * 1024 };

const mintTopics = (['Minted', 'MintedIntoEscrow'] as const).map(
  (eventName) => encodeEventTopics({ abi: pointsSaleAbi, eventName })[0],
);

/** Mints on chain for each of the processor's session ids, to accounts and into escrow. Throws when the node does not answer. */
export async function countSessionMints(
  rpcUrl: string,
  { pointsSale, sessionIds }: { pointsSale: string; sessionIds: readonly string[] },
): Promise<Map<string, number>> {
  const counts = new Map(sessionIds.map((id) => [id, 0]));
  if (counts.size === 0) return counts;
  const idOfKey = new Map(sessionIds.map((id) => [sessionMintKey(id), id]));
  const rpc = createRpc({ url: rpcUrl, ...LIMITS });
  const filter = {
    address: pointsSale,
    fromBlock: '0x0',
    toBlock: 'latest',
    topics: [mintTopics, [...idOfKey.keys()]],
  };
  for (const { topics } of (await rpc('eth_getLogs', [filter])) as { topics: Hex[] }[]) {
    const id = idOfKey.get(topics[1] ?? '0x');
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
