/** Tells what the chain has: blocks with what they call, one transaction whole, and what our accounts and contracts hold. */
import { rewardTokenAbi } from '../chain/contracts/abis.ts';
import { describeCall, describeLog } from '../chain/contracts/calls/describe-call.ts';
import { readContract } from '../chain/contracts/read-contract.ts';
import type { Block, ChainClient, Receipt } from '../chain/rpc/client.ts';
import { isRpcError, type Rpc } from '../chain/rpc/rpc.ts';
import type { RpcTransaction } from '../chain/rpc/signed-transaction.ts';
import type { Queries } from '../ledger/database/database.ts';
import type { Facts } from '../ledger/facts.ts';
import { listGasWallets } from '../ledger/relay/gas-wallets.ts';
import { readTotals } from '../ledger/totals.ts';
import { busiestLanes } from '../ledger/transactions/backlog.ts';
import { type FoundAttempt, findByHashes } from '../ledger/transactions/transactions.ts';
import type { Hex } from '../lib/hex.ts';
import { within } from '../lib/timers.ts';

export interface ShowChainDeps {
  db: Queries;
  chain: ChainClient;
  rpc: Rpc;
  facts: Facts['chain'];
}

type NodeRefusal = { refusal: { code: 'node_unavailable'; why: string } };

/** Somebody looks at a page meanwhile; what they wait for holds nothing up. */
const ANSWER_MS = 4_000;
const ACCOUNTS_MAX = 50;
/** Of a block in the list; the whole is a page of its own. */
const TRANSACTIONS_MAX = 20;
const LOGS_MAX = 200;

/** The answer of the node, or that it has none in time. */
async function fromNode<T>(work: () => Promise<T>): Promise<T | NodeRefusal> {
  try {
    const found = await within(
      ANSWER_MS,
      work().then((value) => ({ value })),
    );
    return found ? found.value : unavailable('no answer in 4 seconds');
  } catch (error) {
    // Its message names the method and what stood in the way, never an address.
    if (isRpcError(error)) return unavailable(error.message);
    throw error;
  }
}

const unavailable = (why: string): NodeRefusal => ({ refusal: { code: 'node_unavailable', why } });

/** A transaction as a row of a block. */
function rowOf(
  { facts }: Pick<ShowChainDeps, 'facts'>,
  {
    shown,
    receipt,
    own,
  }: { shown: RpcTransaction; receipt: Receipt | undefined; own: FoundAttempt | undefined },
) {
  const { contract, signature, payouts } = describeCall(facts.contracts, { to: shown.to, data: shown.input });
  return {
    hash: shown.hash,
    from: shown.from,
    to: shown.to,
    contract: contract ?? null,
    call: signature ?? null,
    valueWei: String(BigInt(shown.value)),
    state: receipt ? (receipt.succeeded ? ('done' as const) : ('reverted' as const)) : ('waiting' as const),
    gasUsed: receipt ? Number(receipt.gasUsed) : null,
    lane: own?.transaction.purpose ?? null,
    payouts: payouts?.count ?? 0,
    logs: receipt?.logs.length ?? 0,
  };
}

/** Up to `limit` blocks, the newest first, from the one before `before` down. */
export const showBlocks = (
  deps: ShowChainDeps,
  { limit, before }: { limit: number; before: number | undefined },
) =>
  fromNode(async () => {
    const { chain, db } = deps;
    const head = await chain.block('latest');
    const newest = head?.number ?? -1;
    const first = before === undefined ? newest : Math.min(newest, before - 1);
    const numbers = Array.from(
      { length: Math.max(0, Math.min(limit, first + 1)) },
      (_, place) => first - place,
    );
    const blocks = await Promise.all(numbers.map((number) => readBlock(chain, number)));
    const listed = blocks.flatMap((one) => one ?? []);
    const named = listed.map(({ transactions }) => transactions.slice(0, TRANSACTIONS_MAX));
    const own = await ownOf(db, named.flat());
    return {
      head: newest,
      blocks: listed.map((one, place) => blockRow(deps, { ...one, named: named[place] ?? [], own })),
    };
  });

/** One block with `limit` of its transactions, from the one at `from` on. */
export const showBlock = (
  deps: ShowChainDeps,
  { number, from, limit }: { number: number; from: number; limit: number },
) =>
  fromNode(async () => {
    const { chain, db } = deps;
    const head = (await chain.block('latest'))?.number ?? -1;
    const read = number <= head ? await readBlock(chain, number) : undefined;
    if (!read) return { refusal: { code: 'block_not_found' as const, number, head } };
    const named = read.transactions.slice(from, from + limit);
    return { head, ...blockRow(deps, { ...read, named, own: await ownOf(db, named) }) };
  });

async function readBlock(chain: ChainClient, number: number) {
  const [block, contents, receipts] = await Promise.all([
    chain.block(number),
    chain.transactionsIn(number),
    chain.blockReceipts(number),
  ]);
  return block && { block, transactions: contents?.transactions ?? [], receipts: receipts ?? [] };
}

/** A block with those of its transactions that are named. */
function blockRow(
  deps: Pick<ShowChainDeps, 'facts'>,
  {
    block,
    transactions,
    receipts,
    named,
    own,
  }: NonNullable<Awaited<ReturnType<typeof readBlock>>> & {
    named: readonly RpcTransaction[];
    own: ReadonlyMap<Hex, FoundAttempt>;
  },
) {
  const byHash = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return {
    ...blockFacts(block),
    gasUsed: receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0),
    count: transactions.length,
    transactions: named.map((shown) =>
      rowOf(deps, { shown, receipt: byHash.get(shown.hash), own: own.get(shown.hash) }),
    ),
  };
}

const blockFacts = ({ number, hash, timestampSeconds, baseFeeWei }: Block) => ({
  number,
  hash,
  at: new Date(timestampSeconds * 1_000).toISOString(),
  baseFeeWei: String(baseFeeWei),
});

async function ownOf(db: Queries, shown: RpcTransaction[]): Promise<Map<Hex, FoundAttempt>> {
  if (shown.length === 0) return new Map();
  const found = await findByHashes(
    db,
    shown.map(({ hash }) => hash),
  );
  return new Map(found.map((one) => [one.hash, one]));
}

/** One transaction with its call and logs in words. */
export const showTransaction = (deps: ShowChainDeps, hash: Hex) =>
  fromNode(async () => {
    const { chain, rpc, db, facts } = deps;
    const [shown, receipt] = await Promise.all([
      rpc('eth_getTransactionByHash', [hash]) as Promise<RpcTransaction | null>,
      chain.receipt(hash),
    ]);
    const own = (await findByHashes(db, [hash]))[0];
    if (!shown)
      return { refusal: { code: 'transaction_not_found' as const, hash, isStored: own !== undefined } };
    const number = shown.blockNumber ? Number(BigInt(shown.blockNumber)) : undefined;
    const block = number === undefined ? undefined : await chain.block(number);
    const { args, payouts } = describeCall(facts.contracts, { to: shown.to, data: shown.input });
    const logs = receipt?.logs ?? [];
    return {
      ...rowOf(deps, { shown, receipt, own }),
      nonce: Number(BigInt(shown.nonce)),
      gas: Number(BigInt(shown.gas)),
      feeWei: receipt
        ? String(receipt.gasUsed * receipt.effectiveGasPriceWei + (receipt.l1FeeWei ?? 0n))
        : null,
      block: block ? blockFacts(block) : null,
      args,
      payouts: payouts ?? { count: 0, shown: [] },
      logs: {
        count: logs.length,
        shown: logs.slice(0, LOGS_MAX).map((log) => {
          const { address, contract = null, event = null, args: told } = describeLog(facts.contracts, log);
          return { address, contract, event, args: told };
        }),
      },
      ledger: own
        ? {
            purpose: own.transaction.purpose,
            status: own.transaction.status,
            outcome: own.transaction.outcome,
            kind: own.kind,
          }
        : null,
    };
  });

/** Contracts, our accounts with what they own, and how many RWT there are. */
export const showChain = (deps: ShowChainDeps) =>
  fromNode(async () => {
    const { db, chain, rpc, facts } = deps;
    const { contracts } = facts;
    const head = await chain.block('latest');
    const accounts = await ownAccounts(db);
    const token = { address: contracts.token, abi: rewardTokenAbi } as const;
    const rwtOf = (account: Hex) =>
      readContract(rpc, { ...token, functionName: 'balanceOf', args: [account] });
    const [supply, escrowed, ...balances] = await Promise.all([
      readContract(rpc, { ...token, functionName: 'totalSupply' }),
      rwtOf(contracts.escrow),
      ...accounts.map(async ({ address, is }) => {
        const [wei, rwt] = await Promise.all([chain.balanceWei(address), rwtOf(address)]);
        return { address, is, wei: String(wei), rwt: String(rwt) };
      }),
    ]);
    const { rwtMinted, rwtRewarded } = await readTotals(db);
    return {
      chainId: facts.chainId,
      deploymentBlock: facts.deploymentBlock,
      head: head ? blockFacts(head) : null,
      contracts: Object.entries(contracts).map(([name, address]) => ({ name, address })),
      accounts: balances,
      token: {
        supply: String(supply),
        escrowed: String(escrowed),
        ledgerMinted: rwtMinted,
        ledgerRewarded: rwtRewarded,
      },
    };
  });

/** Where the service sends from, each once with all that it does. */
async function ownAccounts(db: Queries): Promise<{ address: Hex; is: string }[]> {
  const does = new Map<Hex, string[]>();
  const note = (address: Hex, what: string) => does.set(address, [...(does.get(address) ?? []), what]);
  for (const { address, purpose } of await busiestLanes(db, ACCOUNTS_MAX)) note(address, `${purpose} lane`);
  for (const { address, payer } of await listGasWallets(db)) note(address, `gas of ${payer}`);
  return [...does].slice(0, ACCOUNTS_MAX).map(([address, what]) => ({ address, is: what.join(', ') }));
}
