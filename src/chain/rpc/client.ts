/** What the engine asks of a chain, in values instead of hex. */
import { type Hex, hexToBigInt, hexToNumber, numberToHex } from 'viem';
import { keccak256OfHex } from '../../lib/keccak256.ts';
import type { Rpc } from './rpc.ts';
import { type SendOutcome, sortSendError } from './send-outcome.ts';
import type { RpcTransaction } from './signed-transaction.ts';

export interface Block {
  number: number;
  hash: Hex;
  parentHash: Hex;
  timestampSeconds: number;
  baseFeeWei: bigint;
  /** The hashes of the transactions in it, so that receipts that lack some are noticed. */
  transactions?: Hex[];
}

export interface Log {
  address: Hex;
  topics: Hex[];
  data: Hex;
  logIndex: number;
  transactionHash: Hex;
}

export interface Receipt {
  transactionHash: Hex;
  /** The block that the node read it from. */
  blockHash?: Hex;
  succeeded: boolean;
  gasUsed: bigint;
  effectiveGasPriceWei: bigint;
  /** What a chain of the OP stack takes beside gas, for its data on another chain. */
  l1FeeWei?: bigint;
  logs: Log[];
}

/** A connection to one chain. Every function but `sendRaw` rejects when the node gives no usable answer. */
export interface ChainClient {
  chainId(): Promise<number>;
  /** The newest block, or the one with this number; undefined when there is none. */
  block(which: 'latest' | number): Promise<Block | undefined>;
  /** The transactions of the block with this number; undefined when there is none. */
  transactionsIn(number: number): Promise<{ hash: Hex; transactions: RpcTransaction[] } | undefined>;
  /** The receipts of a whole block, in order; undefined when the node has none yet. */
  blockReceipts(number: number): Promise<Receipt[] | undefined>;
  /** The receipt of one transaction; undefined when the node knows no block that holds it. */
  receipt(hash: Hex): Promise<Receipt | undefined>;
  /** The logs of one contract in the block with this hash, in order; rejects when the node does not know the block. */
  logsIn(blockHash: Hex, address: Hex): Promise<Log[]>;
  /**
   * Transactions of an account that are in blocks, so its next nonce as the chain sees it; now, or in the block with
   * this hash or number. 'pending': with those that wait in the node's pool without a gap.
   */
  nonce(address: Hex, at?: Hex | number | 'pending'): Promise<number>;
  /** Native currency of an account. */
  balanceWei(address: Hex): Promise<bigint>;
  code(address: Hex): Promise<Hex>;
  /** Hands signed bytes to the node; every error is sorted, none is thrown. */
  sendRaw(raw: Hex): Promise<SendOutcome>;
}

interface RpcBlock {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  timestamp: Hex;
  baseFeePerGas?: Hex;
  transactions?: Hex[];
}

interface RpcReceipt {
  transactionHash: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  l1Fee?: Hex | null;
  logs: RpcLog[];
}

interface RpcLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  logIndex: Hex;
  transactionHash: Hex;
}

const logOf = (log: RpcLog): Log => ({ ...log, logIndex: hexToNumber(log.logIndex) });

const receiptOf = (receipt: RpcReceipt): Receipt => ({
  transactionHash: receipt.transactionHash,
  blockHash: receipt.blockHash,
  succeeded: receipt.status === '0x1',
  gasUsed: hexToBigInt(receipt.gasUsed),
  effectiveGasPriceWei: hexToBigInt(receipt.effectiveGasPrice),
  ...(receipt.l1Fee && { l1FeeWei: hexToBigInt(receipt.l1Fee) }),
  logs: receipt.logs.map(logOf),
});

export function createChainClient(rpc: Rpc): ChainClient {
  const quantity = async (method: string, params: readonly unknown[]) =>
    hexToBigInt((await rpc(method, params)) as Hex);
  return {
    chainId: async () => Number(await quantity('eth_chainId', [])),
    async block(which) {
      const tag = which === 'latest' ? which : numberToHex(which);
      const block = (await rpc('eth_getBlockByNumber', [tag, false])) as RpcBlock | null;
      if (!block) return undefined;
      return {
        number: hexToNumber(block.number),
        hash: block.hash,
        parentHash: block.parentHash,
        timestampSeconds: hexToNumber(block.timestamp),
        baseFeeWei: hexToBigInt(block.baseFeePerGas ?? '0x0'),
        ...(block.transactions && { transactions: block.transactions }),
      };
    },
    async transactionsIn(number) {
      const block = await rpc('eth_getBlockByNumber', [numberToHex(number), true]);
      return (block as { hash: Hex; transactions: RpcTransaction[] } | null) ?? undefined;
    },
    async blockReceipts(number) {
      const receipts = (await rpc('eth_getBlockReceipts', [numberToHex(number)])) as RpcReceipt[] | null;
      return receipts?.map(receiptOf);
    },
    async receipt(hash) {
      const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as RpcReceipt | null;
      return receipt ? receiptOf(receipt) : undefined;
    },
    async logsIn(blockHash, address) {
      return ((await rpc('eth_getLogs', [{ blockHash, address }])) as RpcLog[]).map(logOf);
    },
    async nonce(address, at: string | number = 'latest') {
      const when = typeof at === 'number' ? numberToHex(at) : at.startsWith('0x') ? { blockHash: at } : at;
      return Number(await quantity('eth_getTransactionCount', [address, when]));
    },
    balanceWei: (address) => quantity('eth_getBalance', [address, 'latest']),
    code: async (address) => (await rpc('eth_getCode', [address, 'latest'])) as Hex,
    async sendRaw(raw) {
      try {
        const hash = await rpc('eth_sendRawTransaction', [raw]);
        // A node that names another hash has not taken these bytes, whatever it says.
        return hash === keccak256OfHex(raw) ? { kind: 'accepted' } : { kind: 'unknown', why: 'another hash' };
      } catch (error) {
        return sortSendError(error);
      }
    },
  };
}
