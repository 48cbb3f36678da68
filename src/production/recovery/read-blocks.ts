/** Reads every transaction of our accounts in a run of blocks, and what the contracts logged of it. */
import type { EscrowActivity } from '../../audit/escrow-activity.ts';
import { readLaneCall } from '../../chain/contracts/calls/lane-call.ts';
import { offerIn, type RpcTransaction, signedBytesOf } from '../../chain/rpc/signed-transaction.ts';
import { checksummed } from '../../identity/checksum.ts';
import type { Hex } from '../../lib/hex.ts';
import type { FoundTransaction, RecoveryDeps } from './context.ts';

/** Blocks that are asked for together: with a node far away, most of the time is waiting. */
const BLOCKS_ASKED = 16;

interface FullBlock {
  number: Hex;
  timestamp: Hex;
  transactions: RpcTransaction[];
}

type ReadDeps = Pick<RecoveryDeps, 'rpc' | 'history' | 'chain' | 'facts' | 'progress'>;

/** What a transaction shows, as far as it does not depend on a block. */
export function foundOf(
  { facts }: Pick<RecoveryDeps, 'facts'>,
  shown: RpcTransaction,
  lane: Hex,
): Omit<FoundTransaction, 'block' | 'succeeded' | 'activity'> {
  const valueWei = BigInt(shown.value);
  return {
    hash: shown.hash,
    lane,
    nonce: Number(shown.nonce),
    raw: signedBytesOf(shown),
    ...offerIn(shown),
    to: shown.to,
    data: shown.input,
    valueWei,
    gas: Number(shown.gas),
    call: readLaneCall(facts.contracts, { to: shown.to, data: shown.input, valueWei }),
  };
}

/**
 * The transactions of these accounts in the blocks, oldest first. An account that nobody named is one of ours when the
 * escrow or the perks obeyed it: only the service's own accounts have the roles for that.
 */
export async function readBlocks(
  deps: ReadDeps,
  { from, to, accounts }: { from: number; to: number; accounts: readonly Hex[] },
): Promise<{ transactions: FoundTransaction[]; activities: EscrowActivity[]; accounts: Hex[] }> {
  const activities: EscrowActivity[] = [];
  if (from <= to)
    for await (const page of deps.history.activity(from, to)) activities.push(...page.activities);
  const byHash = new Map(activities.map((one) => [one.transactionHash, one]));
  const known = [...accounts];
  for (;;) {
    const laneOf = new Map(known.map((account) => [account.toLowerCase(), account]));
    const transactions = await transactionsOf(deps, { from, to, laneOf, byHash });
    const found = new Set(transactions.map(({ hash }) => hash));
    const strangers = await sendersOf(
      deps,
      activities.filter((one) => obeyed(one) && !found.has(one.transactionHash)),
    );
    if (strangers.length === 0) return { transactions, activities, accounts: known };
    known.push(...strangers);
  }
}

const obeyed = ({ distributed, redeemed }: EscrowActivity) => distributed.length > 0 || redeemed.length > 0;

async function sendersOf({ rpc }: ReadDeps, activities: EscrowActivity[]): Promise<Hex[]> {
  const senders = new Set<Hex>();
  for (const { transactionHash } of activities) {
    const shown = (await rpc('eth_getTransactionByHash', [transactionHash])) as RpcTransaction | null;
    if (shown) senders.add(checksummed(shown.from));
  }
  return [...senders];
}

async function transactionsOf(
  deps: ReadDeps,
  of: {
    from: number;
    to: number;
    laneOf: ReadonlyMap<string, Hex>;
    byHash: ReadonlyMap<Hex, EscrowActivity>;
  },
): Promise<FoundTransaction[]> {
  const { from, to, laneOf, byHash } = of;
  const transactions: FoundTransaction[] = [];
  for (let first = from; first <= to; first += BLOCKS_ASKED) {
    const numbers = Array.from(
      { length: Math.min(BLOCKS_ASKED, to - first + 1) },
      (_, place) => first + place,
    );
    const blocks = await Promise.all(
      numbers.map((number) => deps.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])),
    );
    for (const block of blocks as (FullBlock | null)[]) {
      if (!block) throw new Error('the node lacks a block below its own newest one');
      const { number, timestamp } = block;
      for (const [index, shown] of block.transactions.entries()) {
        const lane = laneOf.get(shown.from.toLowerCase());
        if (lane === undefined) continue;
        const receipt = await deps.chain.receipt(shown.hash);
        transactions.push({
          ...foundOf(deps, shown, lane),
          block: { number: Number(number), timestampMs: Number(timestamp) * 1_000, index },
          succeeded: receipt?.succeeded === true,
          activity: byHash.get(shown.hash),
        });
      }
    }
    deps.progress('blocks', Math.min(to, first + BLOCKS_ASKED - 1) - from + 1, to - from + 1);
  }
  return transactions;
}
