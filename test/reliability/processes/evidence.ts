/** What the chain itself shows, read from the node without the service and without its code. */
import { createPublicClient, http, parseAbi, parseAbiItem } from 'viem';
import type { Hex } from '../../../src/lib/hex.ts';

export interface PaidEntry {
  sequence: number;
  wallet: string;
  amount: number;
  hash: Hex;
}

export interface LaneTransaction {
  nonce: number;
  hash: Hex;
  to: string | null;
  input: Hex;
  succeeded: boolean;
}

export interface Evidence {
  /** Rewards that calldata of the escrow paid: what succeeded, less what it reported as skipped. */
  paid: PaidEntry[];
  /** Transfers of the token out of the escrow. */
  transfers: { wallet: string; amount: number; hash: Hex }[];
  skipped: { sequence: number; reason: number; hash: Hex }[];
  /** Every transaction of the lane that is in a block. */
  lane: LaneTransaction[];
  isPaid(sequence: number): Promise<boolean>;
}

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');
const skippedEvent = parseAbiItem('event RewardSkipped(uint256 indexed sequence, uint8 reason)');
const escrowAbi = parseAbi(['function isPaid(uint256 sequence) view returns (bool)']);

export async function readEvidence(of: {
  rpcUrl: string;
  token: Hex;
  escrow: Hex;
  lane: Hex;
}): Promise<Evidence> {
  const chain = createPublicClient({ transport: http(of.rpcUrl, { timeout: 60_000 }) });
  const range = { fromBlock: 0n, toBlock: 'latest' } as const;
  const transferLogs = await chain.getLogs({
    ...range,
    address: of.token,
    event: transferEvent,
    args: { from: of.escrow },
  });
  const skippedLogs = await chain.getLogs({ ...range, address: of.escrow, event: skippedEvent });
  const skipped = skippedLogs.map(({ args, transactionHash }) => ({
    sequence: Number(args.sequence),
    reason: Number(args.reason),
    hash: transactionHash,
  }));
  const lane: LaneTransaction[] = [];
  const head = await chain.getBlockNumber();
  for (let number = 0n; number <= head; number++) {
    const block = await chain.getBlock({ blockNumber: number, includeTransactions: true });
    for (const { from, nonce, hash, to, input } of block.transactions) {
      if (from.toLowerCase() !== of.lane.toLowerCase()) continue;
      const { status } = await chain.getTransactionReceipt({ hash });
      lane.push({ nonce, hash, to, input, succeeded: status === 'success' });
    }
  }
  const skippedKeys = new Set(skipped.map(({ sequence, hash }) => `${hash} ${sequence}`));
  const paid = lane
    .filter(({ to, succeeded }) => succeeded && to?.toLowerCase() === of.escrow.toLowerCase())
    .flatMap(({ input, hash }) => unpackBatch(input).map((entry) => ({ ...entry, hash })))
    .filter(({ sequence, hash }) => !skippedKeys.has(`${hash} ${sequence}`));
  return {
    paid,
    transfers: transferLogs.map(({ args, transactionHash }) => ({
      wallet: (args.to ?? '').toLowerCase(),
      amount: Number(args.value),
      hash: transactionHash,
    })),
    skipped,
    lane,
    isPaid: (sequence) =>
      chain.readContract({
        address: of.escrow,
        abi: escrowAbi,
        functionName: 'isPaid',
        args: [BigInt(sequence)],
      }),
  };
}

/**
 * Base sequence in 8 bytes; brands (20) with how many groups (1); groups of first offset (2), count (1), length of the amount
 * (1) and amount; entries of sequences left out (1) and recipient (20).
 */
export function unpackBatch(input: Hex): { sequence: number; wallet: string; amount: number }[] {
  const bytes = Buffer.from(input.slice(2), 'hex');
  const length = Number(bytes.readBigUInt64BE(4 + 32 + 24));
  const batch = bytes.subarray(4 + 64, 4 + 64 + length);
  const base = Number(batch.readBigUInt64BE(0));
  const entries: { sequence: number; wallet: string; amount: number }[] = [];
  for (let at = 8; at < batch.length; ) {
    const groups = batch.readUInt8(at + 20);
    at += 21;
    for (let group = 0; group < groups; group++) {
      let sequence = base + batch.readUInt16BE(at);
      const count = batch.readUInt8(at + 2);
      const amountBytes = batch.readUInt8(at + 3);
      const amount = Number(`0x0${batch.subarray(at + 4, at + 4 + amountBytes).toString('hex')}`);
      at += 4 + amountBytes;
      for (let n = 0; n < count; n++, at += 21, sequence++) {
        sequence += batch.readUInt8(at);
        entries.push({ sequence, wallet: `0x${batch.subarray(at + 1, at + 21).toString('hex')}`, amount });
      }
    }
  }
  return entries;
}
