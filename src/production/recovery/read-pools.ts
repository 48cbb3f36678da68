/** Looks into the nodes' pools for transactions of our accounts that no block holds yet. */
import { createChainClient } from '../../chain/rpc/client.ts';
import { isRpcError, type Rpc } from '../../chain/rpc/rpc.ts';
import type { RpcTransaction } from '../../chain/rpc/signed-transaction.ts';
import { type Offer, offersMore } from '../../ledger/transactions/found-attempts.ts';
import type { Hex } from '../../lib/hex.ts';
import type { FoundTransaction, PendingUnknown, RecoveryDeps } from './context.ts';
import { foundOf } from './read-blocks.ts';

/** The pool of one node, as far as it is about one account. */
interface Pool {
  node: Rpc;
  /** The account's next nonce as this node counts what waits; undefined where it does not say. */
  pending: number | undefined;
  shown: RpcTransaction[];
}

/**
 * What waits of these accounts, also under nonces of transactions that the ledger knows: those may wait with an offer that
 * the ledger has lost. `nextOf`: the first nonce of an account that neither the ledger nor a block has. `hashesFrom`: what
 * the ledger or a block has under a nonce of an account, from the given one on. Nonces that a node counts as waiting, while
 * it knows nothing of what is shown or known under them, are told apart. `mined`: nonces that blocks have used by now.
 */
export async function readPools(
  deps: Pick<RecoveryDeps, 'nodes' | 'facts'>,
  of: {
    accounts: readonly Hex[];
    nextOf: (account: Hex) => Promise<number>;
    hashesFrom: (account: Hex, nonce: number) => Promise<{ nonce: number; hash: Hex }[]>;
  },
): Promise<{ waiting: FoundTransaction[]; pendingUnknown: PendingUnknown[]; mined: Map<Hex, number> }> {
  const blocks = await Promise.all(deps.nodes.map(pendingBlock));
  const waiting: FoundTransaction[] = [];
  const pendingUnknown: PendingUnknown[] = [];
  const minedOf = new Map<Hex, number>();
  for (const lane of of.accounts) {
    const { mined, pools } = await poolsOf(deps.nodes, lane, blocks);
    minedOf.set(lane, mined);
    // Nodes may have different offers of one nonce: each of them may come into a block.
    const shown = new Map(
      pools.flatMap((pool) => pool.shown.map((one) => [one.hash, foundOf(deps, one, lane)])),
    );
    const own = [...shown.values()].filter(({ nonce }) => nonce >= mined).sort(byNonceAndOffer);
    const nonces = new Set(own.map(({ nonce }) => nonce));
    // Behind a gap nothing can come into a block before the lane itself fills it.
    let end = Math.max(await of.nextOf(lane), mined);
    while (nonces.has(end)) end += 1;
    for (const found of own)
      if (found.nonce < end)
        waiting.push({ ...found, block: undefined, succeeded: undefined, activity: undefined });
    const known = [...own, ...(await of.hashesFrom(lane, mined))];
    pendingUnknown.push(...(await unknownIn(pools, { lane, mined, known })));
  }
  return { waiting, pendingUnknown, mined: minedOf };
}

/** The highest offer of a nonce last: it is what the lane outbids. */
const byNonceAndOffer = (one: Offer & { nonce: number }, other: Offer & { nonce: number }) =>
  one.nonce - other.nonce || (offersMore(one, other) ? 1 : -1);

/**
 * The account as the nodes see it that answer. Rejects when none tells the nonce that blocks have used, or none what waits: a
 * recovery that knows of no pool would take what is hidden there for nothing.
 */
async function poolsOf(
  nodes: readonly Rpc[],
  account: Hex,
  blocks: readonly RpcTransaction[][],
): Promise<{ mined: number; pools: Pool[] }> {
  const countedBy = (at?: 'pending') =>
    Promise.allSettled(nodes.map((node) => createChainClient(node).nonce(account, at)));
  const mined = Math.max(...answered(await countedBy()));
  const pending = await countedBy('pending');
  answered(pending);
  const pools = await Promise.all(
    nodes.map(async (node, place): Promise<Pool> => {
      const count = pending[place];
      const shown = [...(await contentFrom(node, account)), ...(blocks[place] ?? [])];
      const isOwn = ({ from }: RpcTransaction) => from.toLowerCase() === account.toLowerCase();
      return {
        node,
        pending: count?.status === 'fulfilled' ? count.value : undefined,
        shown: shown.filter(isOwn),
      };
    }),
  );
  return { mined, pools };
}

/** What nodes have answered; throws what the first said when none has. */
function answered<T>(settled: readonly PromiseSettledResult<T>[]): T[] {
  const values = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [first] = settled;
  if (values.length === 0 && first?.status === 'rejected') throw first.reason;
  return values;
}

/** Nonces under which a node has something that nobody knows: it shows nothing there, and has none of what is known there. */
async function unknownIn(
  pools: readonly Pool[],
  of: { lane: Hex; mined: number; known: readonly { nonce: number; hash: Hex }[] },
): Promise<PendingUnknown[]> {
  const unknown: PendingUnknown[] = [];
  const hasAny = async ({ node }: Pool, nonce: number) => {
    for (const { hash, nonce: own } of of.known)
      if (own === nonce && (await node('eth_getTransactionByHash', [hash]).catch(asNothing))) return true;
    return false;
  };
  const add = (fromNonce: number, nextNonce: number) => {
    const last = unknown.at(-1);
    if (last?.nextNonce === fromNonce) last.nextNonce = nextNonce;
    else unknown.push({ account: of.lane, fromNonce, nextNonce });
  };
  const end = Math.max(of.mined, ...pools.map(({ pending = 0 }) => pending));
  // Beyond what anybody knows all is unknown, however far a node counts.
  const knownEnd = Math.min(end, Math.max(of.mined, ...of.known.map(({ nonce }) => nonce + 1)));
  for (let nonce = of.mined; nonce < knownEnd; nonce += 1) {
    for (const pool of pools) {
      const { pending = 0, shown } = pool;
      const isShown = shown.some((one) => Number(one.nonce) === nonce);
      if (nonce >= pending || isShown || (await hasAny(pool, nonce))) continue;
      add(nonce, nonce + 1);
      break;
    }
  }
  if (knownEnd < end) add(knownEnd, end);
  return unknown;
}

/** What a node would put into its next block; nothing where it does not say. */
async function pendingBlock(node: Rpc): Promise<RpcTransaction[]> {
  const block = await node('eth_getBlockByNumber', ['pending', true]).catch(asNothing);
  const { transactions = [] } = (block ?? {}) as { transactions?: (RpcTransaction | string)[] };
  return transactions.flatMap((one) => (typeof one === 'string' ? [] : one));
}

/**
 * What a node with the namespace `txpool` has of one account. What is queued counts: it waits behind a nonce that this node
 * lacks, and that another node or the ledger may have.
 */
async function contentFrom(node: Rpc, account: Hex): Promise<RpcTransaction[]> {
  const answer = await node('txpool_contentFrom', [account]).catch(asNothing);
  const { pending = {}, queued = {} } = (answer ?? {}) as Record<string, Record<string, RpcTransaction>>;
  return [...Object.values(pending), ...Object.values(queued)];
}

/** Many nodes show no pool. */
function asNothing(error: unknown): undefined {
  if (isRpcError(error)) return undefined;
  throw error;
}
