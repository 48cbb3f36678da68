/** Looks into the nodes' pools for transactions of our accounts that no block holds yet. */
import type { ChainClient } from '../../chain/rpc/client.ts';
import { createChainClient } from '../../chain/rpc/client.ts';
import { isRpcError, type Rpc } from '../../chain/rpc/rpc.ts';
import type { RpcTransaction } from '../../chain/rpc/signed-transaction.ts';
import type { Hex } from '../../lib/hex.ts';
import { foundOf } from './read-blocks.ts';
import type { FoundTransaction, PendingUnknown, RecoveryDeps } from './types.ts';

/** Nonces of an account by the nodes that answer; each has a pool of its own. Rejects when none answers. */
export async function noncesOf(
  nodes: readonly Pick<ChainClient, 'nonce'>[],
  account: Hex,
): Promise<{ mined: number; pending: number }> {
  const highest = async (at?: 'pending') => {
    const answers = await Promise.allSettled(nodes.map((node) => node.nonce(account, at)));
    const nonces = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const [first] = answers;
    if (nonces.length === 0 && first?.status === 'rejected') throw first.reason;
    return Math.max(...nonces);
  };
  const mined = await highest();
  return { mined, pending: Math.max(mined, await highest('pending')) };
}

/**
 * What waits of these accounts. `nextOf`: the first nonce of an account that neither the ledger nor a block has. Nonces
 * that a node counts as waiting without showing what they carry are told apart. `mined`: nonces that blocks have used by now.
 */
export async function readPools(
  deps: Pick<RecoveryDeps, 'nodes' | 'facts'>,
  { accounts, nextOf }: { accounts: readonly Hex[]; nextOf: (account: Hex) => Promise<number> },
): Promise<{ waiting: FoundTransaction[]; pendingUnknown: PendingUnknown[]; mined: Map<Hex, number> }> {
  const clients = deps.nodes.map(createChainClient);
  const shown = await pendingBlocks(deps.nodes);
  const waiting: FoundTransaction[] = [];
  const pendingUnknown: PendingUnknown[] = [];
  const minedOf = new Map<Hex, number>();
  for (const lane of accounts) {
    const { mined, pending } = await noncesOf(clients, lane);
    minedOf.set(lane, mined);
    const next = Math.max(await nextOf(lane), mined);
    const account = lane.toLowerCase();
    const own = new Map<number, RpcTransaction>();
    for (const one of [...(await contentFrom(deps.nodes, lane)), ...shown]) {
      const nonce = Number(one.nonce);
      if (one.from.toLowerCase() === account && nonce >= mined) own.set(nonce, one);
    }
    // Behind a gap nothing can come into a block before the lane itself fills it.
    let end = next;
    while (own.has(end)) end += 1;
    for (const [nonce, one] of [...own].sort(([a], [b]) => a - b)) {
      if (nonce >= end) continue;
      const found = foundOf(deps, one, lane);
      waiting.push({ ...found, block: undefined, succeeded: undefined, activity: undefined });
    }
    if (pending > end) pendingUnknown.push({ account: lane, fromNonce: end, nextNonce: pending });
  }
  return { waiting, pendingUnknown, mined: minedOf };
}

/** What the nodes would put into their next block; nothing of a node that does not say. */
async function pendingBlocks(nodes: readonly Rpc[]): Promise<RpcTransaction[]> {
  const blocks = await Promise.all(
    nodes.map((node) => node('eth_getBlockByNumber', ['pending', true]).catch(asNothing)),
  );
  return blocks.flatMap((block) => {
    const { transactions = [] } = (block ?? {}) as { transactions?: (RpcTransaction | string)[] };
    return transactions.flatMap((one) => (typeof one === 'string' ? [] : one));
  });
}

/** What waits of one account, as nodes with the namespace `txpool` show it. */
async function contentFrom(nodes: readonly Rpc[], account: Hex): Promise<RpcTransaction[]> {
  const answers = await Promise.all(
    nodes.map((node) => node('txpool_contentFrom', [account]).catch(asNothing)),
  );
  return answers.flatMap((answer) => {
    const { pending = {} } = (answer ?? {}) as { pending?: Record<string, RpcTransaction> };
    return Object.values(pending);
  });
}

/** Many nodes show no pool. */
function asNothing(error: unknown): undefined {
  if (isRpcError(error)) return undefined;
  throw error;
}
