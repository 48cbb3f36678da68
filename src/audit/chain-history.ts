/** Reads what the contracts did and hold, as of a given block, to compare it with the ledger. Writes nothing. */
import { type Hex, hexToNumber, numberToHex } from 'viem';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../chain/contracts/abis.ts';
import { type ChainPerk, readChainPerk } from '../chain/contracts/calls/perk-calls.ts';
import { decodePayoutBatch, type PayoutEntry } from '../chain/contracts/payout-batch.ts';
import { readContract } from '../chain/contracts/read-contract.ts';
import { type Rpc, RpcAnswerError, RpcTooLargeError, RpcUnreachableError } from '../chain/rpc/rpc.ts';
import {
  activityFilters,
  createActivityReader,
  type EscrowActivity,
  type RpcLog,
} from './escrow-activity.ts';

/** A run of blocks and the transactions in it that touched escrow, sale or supply; oldest first. */
export interface ActivityPage {
  from: number;
  to: number;
  activities: EscrowActivity[];
}

export interface ChainHistory {
  /** Every block between two, both included, in pages of about `LOGS_PER_PAGE` logs. */
  activity(from: number, to: number): AsyncGenerator<ActivityPage>;
  /** The rewards that a transaction of this hash was to pay; undefined when its data is not a payout batch. */
  payoutsOf(hash: Hex): Promise<PayoutEntry[] | undefined>;
  /** Paid flags of sequences `index * 256` and the 255 after it. */
  paidWord(index: number, block: number): Promise<bigint>;
  escrowOf(brandId: Hex, block: number): Promise<bigint>;
  /** RWT that the escrow holds for all brands together. */
  escrowHolds(block: number): Promise<bigint>;
  totalSupply(block: number): Promise<bigint>;
  /** Whether the sale has used a key. */
  isMinted(key: Hex, block: number): Promise<boolean>;
  /** Whether the escrow has collected under a key. */
  isRedeemed(key: Hex, block: number): Promise<boolean>;
  /** A perk's terms and what is left of it. */
  perkAt(tokenId: number, block: number): Promise<ChainPerk>;
  nonceAt(account: Hex, block: number): Promise<number>;
  /** Where a transaction is; undefined when no block holds it. */
  inclusionOf(hash: Hex): Promise<{ blockHash: Hex; succeeded: boolean } | undefined>;
}

/** Some 600 KB of JSON, which is read in a few milliseconds: the process answers requests in between. */
const LOGS_PER_PAGE = 1_000;
/** Much more than a full page comes from a range that was guessed too large: a smaller one is asked for. */
const PAGE_MAX_BYTES = 4 * 1024 * 1024;
/** The first question is small: an old chain may have a full page in each block. */
const FIRST_RANGE = 8;
/** Public nodes answer for 1,000 to 10,000 blocks at once. */
const RANGE_MAX = 2_000;

export function createChainHistory(deps: {
  rpc: Rpc;
  contracts: { token: Hex; escrow: Hex; pointsSale: Hex; perks: Hex };
}): ChainHistory {
  const { rpc, contracts } = deps;
  const readLogs = createActivityReader(contracts);
  const filters = activityFilters(contracts);
  // Amounts are in the token's smallest unit, which is the ledger's too: the token has no decimals.
  const tokenRead = { address: contracts.token, abi: rewardTokenAbi };
  const escrowRead = { address: contracts.escrow, abi: businessEscrowAbi };
  const saleRead = { address: contracts.pointsSale, abi: pointsSaleAbi };

  const logsBetween = async (from: number, to: number): Promise<RpcLog[][]> => {
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
    // A single block is read whatever it holds.
    const limits = from === to ? undefined : { answerMaxBytes: PAGE_MAX_BYTES };
    return Promise.all(
      filters.map(
        async (filter) => (await rpc('eth_getLogs', [{ ...filter, ...range }], limits)) as RpcLog[],
      ),
    );
  };

  return {
    async *activity(first, last) {
      let range = FIRST_RANGE;
      // What a node has refused is approached slowly, so that it need not refuse again and again.
      let growth = 2;
      for (let from = first; from <= last; ) {
        const to = Math.min(from + range - 1, last);
        let logs: RpcLog[][];
        try {
          logs = await logsBetween(from, to);
        } catch (error) {
          // Nodes limit blocks, logs, bytes and time, each in its own words: half the range may fit.
          if (!mayBeTooLarge(error) || from === to) throw error;
          range = Math.max(1, Math.floor((to - from + 1) / 2));
          if (!(error instanceof RpcTooLargeError)) growth = 1.25;
          continue;
        }
        const byTransaction = new Map<Hex, EscrowActivity>();
        for (const some of logs) readLogs(some, byTransaction);
        yield { from, to, activities: [...byTransaction.values()].sort(oldestFirst) };
        const count = logs.reduce((sum, some) => sum + some.length, 0);
        const fitting = Math.floor(((to - from + 1) * LOGS_PER_PAGE) / Math.max(1, count));
        range = Math.max(1, Math.min(RANGE_MAX, Math.ceil(range * growth), fitting));
        from = to + 1;
      }
    },
    async payoutsOf(hash) {
      const found = (await rpc('eth_getTransactionByHash', [hash])) as { input: Hex } | null;
      try {
        return found ? decodePayoutBatch(found.input) : undefined;
      } catch {
        return undefined;
      }
    },
    paidWord: (index, block) =>
      readContract(rpc, { ...escrowRead, functionName: 'paidWord', args: [BigInt(index)] }, block),
    escrowOf: (brandId, block) =>
      readContract(rpc, { ...escrowRead, functionName: 'balanceOf', args: [brandId] }, block),
    escrowHolds: (block) =>
      readContract(rpc, { ...tokenRead, functionName: 'balanceOf', args: [contracts.escrow] }, block),
    totalSupply: (block) => readContract(rpc, { ...tokenRead, functionName: 'totalSupply' }, block),
    isMinted: (key, block) =>
      readContract(rpc, { ...saleRead, functionName: 'isMinted', args: [key] }, block),
    isRedeemed: (key, block) =>
      readContract(rpc, { ...escrowRead, functionName: 'isRedeemed', args: [key] }, block),
    perkAt: (tokenId, block) => readChainPerk({ rpc, perks: contracts.perks }, { tokenId, block }),
    nonceAt: async (account, block) =>
      hexToNumber((await rpc('eth_getTransactionCount', [account, numberToHex(block)])) as Hex),
    async inclusionOf(hash) {
      const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as {
        blockHash: Hex;
        status: Hex;
      } | null;
      return receipt ? { blockHash: receipt.blockHash, succeeded: receipt.status === '0x1' } : undefined;
    },
  };
}

const mayBeTooLarge = (error: unknown) =>
  error instanceof RpcTooLargeError ||
  error instanceof RpcAnswerError ||
  error instanceof RpcUnreachableError;

const oldestFirst = (one: EscrowActivity, other: EscrowActivity) => one.blockNumber - other.blockNumber;
