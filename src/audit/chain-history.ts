/** Reads what the contracts did and hold, as of a given block, to compare it with the ledger. Writes nothing. */
import { type Abi, decodeEventLog, type Hex, hexToBigInt, hexToNumber, numberToHex } from 'viem';
import { businessEscrowAbi, pointsSaleAbi, rewardTokenAbi } from '../chain/contracts/abis.ts';
import { decodePayoutBatch, type PayoutEntry, skipReasons } from '../chain/contracts/payout-batch.ts';
import { readContract } from '../chain/contracts/read-contract.ts';
import { type Rpc, RpcAnswerError, RpcTooLargeError } from '../chain/rpc/rpc.ts';

/** What one transaction did to brands' money. Amounts are whole RWT, addresses lower case. */
export interface EscrowActivity {
  transactionHash: Hex;
  blockNumber: number;
  /** Each run of `distribute`: what the escrow says it paid. */
  distributed: { count: number; total: bigint }[];
  skipped: { sequence: number; reason: string }[];
  movements: { kind: 'deposit' | 'withdrawal'; brandId: Hex; amount: bigint; logIndex: number }[];
  redeemed: { brandId: Hex; amount: bigint }[];
  /** RWT that left the escrow, in order. */
  transfers: { to: Hex; amount: bigint }[];
  /** RWT that was minted, and how much of it belongs to sales. */
  minted: bigint;
  sold: bigint;
}

export interface ChainHistory {
  /** The transactions between two blocks, both included, that touched escrow, sale or supply; oldest first. */
  activity(from: number, to: number): Promise<EscrowActivity[]>;
  /** The rewards that a transaction of this hash was to pay; undefined when its data is not a payout batch. */
  payoutsOf(hash: Hex): Promise<PayoutEntry[] | undefined>;
  /** Paid flags of sequences `index * 256` and the 255 after it. */
  paidWord(index: number, block: number): Promise<bigint>;
  escrowOf(brandId: Hex, block: number): Promise<bigint>;
  /** RWT that the escrow holds for all brands together. */
  escrowHolds(block: number): Promise<bigint>;
  totalSupply(block: number): Promise<bigint>;
  nonceAt(account: Hex, block: number): Promise<number>;
  /** Where a transaction is; undefined when no block holds it. */
  inclusionOf(hash: Hex): Promise<{ blockHash: Hex; succeeded: boolean } | undefined>;
}

interface RpcLog {
  address: Hex;
  topics: [Hex, ...Hex[]];
  data: Hex;
  logIndex: Hex;
  blockNumber: Hex;
  transactionHash: Hex;
}

const everyEvent = [...businessEscrowAbi, ...pointsSaleAbi, ...rewardTokenAbi].filter(
  ({ type }) => type === 'event',
) as Abi;
const NOBODY = '0x0000000000000000000000000000000000000000';

export function createChainHistory(deps: {
  rpc: Rpc;
  contracts: { token: Hex; escrow: Hex; pointsSale: Hex };
}): ChainHistory {
  const { rpc, contracts } = deps;
  const token = contracts.token.toLowerCase();
  const escrow = contracts.escrow.toLowerCase();
  const pointsSale = contracts.pointsSale.toLowerCase();
  // Amounts are in the token's smallest unit, which is the ledger's too: the token has no decimals.
  const tokenRead = { address: contracts.token, abi: rewardTokenAbi };
  const escrowRead = { address: contracts.escrow, abi: businessEscrowAbi };

  const logsBetween = async (from: number, to: number): Promise<RpcLog[]> => {
    const filter = {
      address: [contracts.token, contracts.escrow, contracts.pointsSale],
      fromBlock: numberToHex(from),
      toBlock: numberToHex(to),
    };
    try {
      return (await rpc('eth_getLogs', [filter])) as RpcLog[];
    } catch (error) {
      // Half the range may fit. Nodes limit answers as well, each with its own error text.
      const maySplit = error instanceof RpcTooLargeError || error instanceof RpcAnswerError;
      if (!maySplit || from === to) throw error;
      const middle = Math.floor((from + to) / 2);
      return [...(await logsBetween(from, middle)), ...(await logsBetween(middle + 1, to))];
    }
  };

  return {
    async activity(from, to) {
      const byTransaction = new Map<Hex, EscrowActivity>();
      for (const log of await logsBetween(from, to)) {
        const known = byTransaction.get(log.transactionHash) ?? emptyActivity(log);
        byTransaction.set(log.transactionHash, known);
        note(known, log, { token, escrow, pointsSale });
      }
      return [...byTransaction.values()];
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
    async nonceAt(account, block) {
      return hexToNumber((await rpc('eth_getTransactionCount', [account, numberToHex(block)])) as Hex);
    },
    async inclusionOf(hash) {
      const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as {
        blockHash: Hex;
        status: Hex;
      } | null;
      return receipt ? { blockHash: receipt.blockHash, succeeded: receipt.status === '0x1' } : undefined;
    },
  };
}

function emptyActivity(log: RpcLog): EscrowActivity {
  return {
    transactionHash: log.transactionHash,
    blockNumber: Number(hexToBigInt(log.blockNumber)),
    distributed: [],
    skipped: [],
    movements: [],
    redeemed: [],
    transfers: [],
    minted: 0n,
    sold: 0n,
  };
}

type Contracts = Record<'token' | 'escrow' | 'pointsSale', string>;

function note(activity: EscrowActivity, log: RpcLog, contracts: Contracts): void {
  const event = decode(log);
  if (!event) return;
  const { args } = event;
  const from = log.address.toLowerCase();
  const logIndex = hexToNumber(log.logIndex);
  const amount = (args.amount ?? args.value ?? 0n) as bigint;
  const lower = (value: unknown) => String(value).toLowerCase() as Hex;
  if (from === contracts.token && event.name === 'Transfer') {
    if (lower(args.from) === NOBODY) activity.minted += amount;
    if (lower(args.to) === NOBODY) activity.minted -= amount;
    if (lower(args.from) === contracts.escrow) activity.transfers.push({ to: lower(args.to), amount });
  }
  if (from === contracts.pointsSale && /^Minted/.test(event.name)) activity.sold += amount;
  if (from !== contracts.escrow) return;
  const brandId = lower(args.brand);
  if (event.name === 'Distributed') {
    activity.distributed.push({ count: Number(args.count), total: args.total as bigint });
  } else if (event.name === 'RewardSkipped') {
    const reason = skipReasons[args.reason as keyof typeof skipReasons] ?? 'skipped';
    activity.skipped.push({ sequence: Number(args.sequence), reason });
  } else if (event.name === 'Deposited') {
    activity.movements.push({ kind: 'deposit', brandId, amount, logIndex });
  } else if (event.name === 'Withdrawn') {
    activity.movements.push({ kind: 'withdrawal', brandId, amount, logIndex });
  } else if (event.name === 'Redeemed') {
    activity.redeemed.push({ brandId, amount });
  }
}

function decode({ topics, data }: RpcLog): { name: string; args: Record<string, unknown> } | undefined {
  try {
    const { eventName, args } = decodeEventLog({ abi: everyEvent, topics, data });
    return { name: String(eventName), args: (args ?? {}) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
