/** What a node, or several behind one address, answers: the model chain over JSON-RPC, with everything that goes wrong there. */
import { type Hex, keccak256 } from 'viem';
import {
  type Rpc,
  RpcAnswerError,
  RpcTooLargeError,
  RpcUnreachableError,
} from '../../../../src/chain/rpc/rpc.ts';
import type { Chance } from '../chance.ts';
import { ESCROW, REDEEM_LANE } from './accounts.ts';
import { type ReadTransaction, readTransaction } from './cheap-signer.ts';
import { type ModelBlock, type ModelChain, nonceOf, slotOf } from './model-chain.ts';
import { buyerIn, type Manner, readView, redeem } from './model-perks.ts';
import { type LogFilter, passes, readEscrow, shownInBlock, shownTransaction } from './model-views.ts';

export type NodeFault =
  | 'lost request'
  | 'lost answer'
  | 'refused 429'
  | 'refused 503'
  | 'garbage'
  | 'stale read'
  | 'sent twice'
  | 'sent again later'
  | 'pool full'
  | 'too large'
  | 'no gas money';

export type Family = 'geth' | 'erigon' | 'nethermind' | 'besu' | 'anvil';
export const families: Family[] = ['geth', 'erigon', 'nethermind', 'besu', 'anvil'];

const wordings: Record<Family, Record<Refusal, string>> = {
  geth: {
    known: 'already known',
    low: 'nonce too low: next nonce 7, tx nonce 3',
    underpriced: 'replacement transaction underpriced',
    full: 'txpool is full',
    poor: 'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1',
    cheap: 'max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 2',
  },
  erigon: {
    known: 'already known',
    low: 'nonce too low',
    underpriced: 'could not replace existing tx: replacement transaction underpriced',
    full: 'pending sub-pool is full',
    poor: 'insufficient funds for gas * price + value',
    cheap: 'fee cap less than block base fee',
  },
  nethermind: {
    known: 'AlreadyKnown',
    low: 'OldNonce, Current nonce: 7, nonce of rejected tx: 3',
    underpriced: 'ReplacementNotAllowed',
    full: 'FeeTooLow, FeePerGas needs to be higher than 1 to be added to the TxPool',
    poor: 'InsufficientFunds, Account balance: 0, cumulative cost: 1',
    cheap: 'MaxFeePerGas is too low',
  },
  besu: {
    known: 'Known transaction',
    low: 'Nonce too low',
    underpriced: 'Replacement transaction underpriced',
    full: 'Transaction pool limit exceeded',
    poor: 'Upfront cost exceeds account balance',
    cheap: 'Gas price below current base fee',
  },
  anvil: {
    known: 'transaction already imported',
    low: 'nonce too low',
    underpriced: 'replacement transaction underpriced',
    full: 'transaction pool is full',
    poor: 'Insufficient funds for gas * price + value',
    cheap: 'max fee per gas less than block base fee',
  },
};
type Refusal = 'known' | 'low' | 'underpriced' | 'full' | 'poor' | 'cheap';

/** How a node shows what waits: by `txpool_contentFrom`, as its next block, or not at all. */
export const poolViews = ['by account', 'as a block', 'not at all'] as const;
export type PoolView = (typeof poolViews)[number];

export interface ModelNodeDeps {
  chain: ModelChain;
  chance: Chance;
  family: Family;
  showsPool: PoolView;
  /** What the wallets of some users do. */
  manners: ReadonlyMap<Hex, Manner>;
  /** Whether this fault strikes now. */
  strikes: (fault: NodeFault) => boolean;
  /** Called with every transaction that reaches a node, before the node does anything with it. */
  onArrival: (transaction: ReadTransaction) => Promise<void>;
  /** Called with every transaction that a node says to have. */
  onTaken: (transaction: ReadTransaction) => void;
}

interface TriedCalls {
  /** `stateOverrides`: accounts whose code counts as removed from this block on. */
  blockStateCalls: { calls: { from: Hex; data: Hex }[]; stateOverrides?: Record<Hex, { code: Hex }> }[];
}

const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`;
/** Nodes ask for a tenth more before they replace a transaction. */
const replaces = (offered: bigint, known: bigint) => offered * 10n >= known * 11n;

export function createModelNode(deps: ModelNodeDeps) {
  const { chain, chance, family, showsPool, manners, strikes, onArrival, onTaken } = deps;
  let late: ReadTransaction[] = [];
  /** Nodes of Anvil and Besu turn away what the next block could not take; others keep it for later. */
  const wantsBaseFee = family === 'anvil' || family === 'besu';

  /** Puts a transaction into the pool, or says why not. */
  function admit(transaction: ReadTransaction): Refusal | undefined {
    const { from, nonce, hash, maxFeeWei, priorityFeeWei } = transaction;
    if (nonce < nonceOf(chain.head.state, from)) return 'low';
    const rival = chain.pool.get(slotOf(transaction));
    if (rival?.hash === hash) return 'known';
    if (wantsBaseFee && maxFeeWei < chain.baseFeeWei) return 'cheap';
    if (rival && !(replaces(maxFeeWei, rival.maxFeeWei) && replaces(priorityFeeWei, rival.priorityFeeWei)))
      return 'underpriced';
    chain.pool.set(slotOf(transaction), transaction);
    return undefined;
  }

  async function arrive(raw: Hex) {
    const hash = keccak256(raw);
    const transaction = chain.seen.get(hash) ?? readTransaction(raw, hash);
    await onArrival(transaction);
    chain.seen.set(hash, transaction);
    return transaction;
  }

  async function send(raw: Hex): Promise<Hex> {
    const method = 'eth_sendRawTransaction';
    const no = (refusal: Refusal) =>
      new RpcAnswerError(method, { code: -32000, message: wordings[family][refusal] });
    if (strikes('pool full')) throw no('full');
    if (strikes('no gas money')) throw no('poor');
    const transaction = await arrive(raw);
    let refusal = admit(transaction);
    if (strikes('sent twice')) refusal = admit(transaction);
    if (strikes('sent again later')) late.push(transaction);
    if (!refusal || refusal === 'known') onTaken(transaction);
    if (refusal) throw no(refusal);
    return transaction.hash;
  }

  /** The head as the node sees it that happens to answer. */
  const view = (): ModelBlock => {
    if (!strikes('stale read')) return chain.head;
    const lag = chance.between(1, Math.min(4, chain.heads.length));
    return chain.heads[chain.heads.length - lag] ?? chain.head;
  };
  /** A block is known by its hash to every node that has seen it, also when it is on no chain any more. */
  const knownBlock = (head: ModelBlock, hash: unknown) =>
    chain.heads.slice(0, chain.heads.indexOf(head) + 1).find((block) => block.hash === hash);
  const header = (block: ModelBlock) => ({
    number: quantity(block.number),
    hash: block.hash,
    parentHash: block.parent?.hash ?? block.hash,
    timestamp: quantity(Math.floor(block.minedAtMs / 1_000)),
    baseFeePerGas: quantity(block.baseFeeWei),
    transactions: block.receipts.map(({ hash }) => hash),
  });
  const receipts = (block: ModelBlock) => {
    let logIndex = 0;
    return block.receipts.map(({ hash, succeeded, gasUsed, logs }) => ({
      transactionHash: hash,
      blockHash: block.hash,
      status: succeeded ? '0x1' : '0x0',
      gasUsed: quantity(gasUsed),
      effectiveGasPrice: quantity(block.baseFeeWei),
      logs: logs.map((log) => ({ ...log, transactionHash: hash, logIndex: quantity(logIndex++) })),
    }));
  };

  function read(method: string, [what, when]: readonly unknown[]): unknown {
    const head = view();
    if (method === 'eth_getTransactionCount') {
      const asOf =
        typeof when === 'object' && when && 'blockHash' in when
          ? knownBlock(head, when.blockHash)
          : String(when).startsWith('0x')
            ? chain.blockAt(Number(when), head)
            : head;
      if (!asOf) throw new RpcAnswerError(method, { code: -32000, message: 'header not found' });
      const from = String(what).toLowerCase() as Hex;
      let nonce = nonceOf(asOf.state, from);
      while (when === 'pending' && chain.pool.has(slotOf({ from, nonce }))) nonce += 1;
      return quantity(nonce);
    }
    if (method === 'eth_getTransactionReceipt') {
      const block = chain.heads.slice(0, chain.heads.indexOf(head) + 1).findLast((one) => {
        return chain.blockAt(one.number, head) === one && one.receipts.some(({ hash }) => hash === what);
      });
      return (block && receipts(block).find(({ transactionHash }) => transactionHash === what)) ?? null;
    }
    if (method === 'eth_getLogs' && 'fromBlock' in (what as object))
      return logsBetween(what as LogFilter, head);
    if (method === 'eth_getLogs') {
      const { blockHash, address } = what as { blockHash: Hex; address: Hex };
      const block = knownBlock(head, blockHash);
      if (!block) throw new RpcAnswerError(method, { code: -32000, message: 'unknown block' });
      const isOf = (log: { address: Hex }) => log.address.toLowerCase() === address.toLowerCase();
      return receipts(block).flatMap(({ logs }) => logs.filter(isOf));
    }
    // Whether a chain takes a fee for data on another one: this one does not.
    if (method === 'eth_getCode') return '0x';
    if (method === 'eth_simulateV1') return tried(what as TriedCalls, head);
    if (method === 'eth_call') {
      const at = chain.blockAt(Number(when), head);
      if (!at) throw new RpcAnswerError(method, { code: -32000, message: 'header not found' });
      const call = what as { to: Hex; data: Hex };
      return call.to === ESCROW ? readEscrow(at, call.data) : readView(at.state.perks, call);
    }
    if (method === 'eth_getTransactionByHash') {
      const found = chain.canonical().flatMap(shownInBlock);
      return [...found, ...chain.waiting().map(shownTransaction)].find(({ hash }) => hash === what) ?? null;
    }
    if (method === 'txpool_contentFrom' || what === 'pending') return pooled(method, what as Hex);
    const block = what === 'latest' ? head : chain.blockAt(Number(what), head);
    if (method === 'eth_getBlockByNumber' && when === true)
      return block ? { ...header(block), transactions: shownInBlock(block) } : null;
    if (method === 'eth_getBlockByNumber') return block ? header(block) : null;
    if (method === 'eth_getBlockReceipts') return block ? receipts(block) : null;
    throw new Error(`the model knows no ${method}`);
  }

  /** Logs of a run of blocks, as of `head`. */
  const logsBetween = ({ fromBlock, toBlock, ...filter }: LogFilter, head: ModelBlock) => {
    const logs = [];
    for (let number = Number(fromBlock); number <= Number(toBlock); number += 1) {
      const block = chain.blockAt(number, head);
      for (const log of block ? receipts(block).flatMap((one) => one.logs) : [])
        if (block && passes(log, filter))
          logs.push({ ...log, blockNumber: quantity(number), blockHash: block.hash });
    }
    return logs;
  };

  /** What waits, as far as this node shows it. */
  const pooled = (method: string, what: Hex | 'pending') => {
    const asked = method === 'txpool_contentFrom' ? 'by account' : 'as a block';
    if (asked === 'by account' && showsPool !== asked)
      throw new RpcAnswerError(method, { code: -32601, message: 'method not found' });
    const shown = showsPool === asked ? chain.waiting().map(shownTransaction) : [];
    if (asked === 'as a block') return { ...header(chain.head), transactions: shown };
    const own = shown.filter(({ from }) => from === what.toLowerCase());
    return { pending: Object.fromEntries(own.map((one) => [String(Number(one.nonce)), one])), queued: {} };
  };

  /** Calls mostly are what they should be; redemptions are tried one after the other, as the contract would run them. */
  const tried = ({ blockStateCalls }: TriedCalls, { state }: ModelBlock) => {
    const status = chance.hit(0.05) ? '0x0' : '0x1';
    let { perks } = state;
    return blockStateCalls.map(({ calls, stateOverrides = {} }) => ({
      calls: calls.map(({ from, data }, place) => {
        if (from === REDEEM_LANE && status === '0x1') {
          const wallet = buyerIn(data);
          const manner = manners.get(wallet);
          const outcome = redeem(perks, data, {
            in: 'trial',
            manner,
            isWithoutCode: stateOverrides[wallet]?.code === '0x',
            isBehind: place > 0,
            likes: manner === 'sometimes' && chance.hit(0.5),
          });
          if ('refused' in outcome)
            return { status: '0x0', gasUsed: quantity(30_000), returnData: outcome.refused };
          perks = outcome.after;
        }
        return { status, gasUsed: quantity(40_000), returnData: '0x' };
      }),
    }));
  };

  const rpc: Rpc = async (method, params) => {
    if (strikes('lost request')) throw new RpcUnreachableError(method, 'no answer');
    if (strikes('refused 503')) throw new RpcUnreachableError(method, 'an unreadable answer');
    if (strikes('refused 429'))
      throw new RpcAnswerError(method, { code: -32005, message: 'rate limit reached' });
    if (method === 'eth_getBlockReceipts' && strikes('too large'))
      throw new RpcTooLargeError(method, 'the node');
    const answer = method === 'eth_sendRawTransaction' ? await send(params[0] as Hex) : read(method, params);
    if (strikes('lost answer')) throw new RpcUnreachableError(method, 'no answer');
    if (strikes('garbage')) throw new RpcUnreachableError(method, 'an unreadable answer');
    return answer;
  };

  return {
    rpc,
    /** Lets bytes arrive a second time that were sent long ago. */
    async arriveLate() {
      const transaction = late.shift();
      if (transaction) admit(transaction);
    },
    /** Bytes that are none of these arrive no second time. */
    forgetAllBut(hashes: ReadonlySet<Hex>) {
      late = late.filter(({ hash }) => hashes.has(hash));
    },
  };
}
