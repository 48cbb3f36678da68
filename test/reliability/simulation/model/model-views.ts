/** What a node shows beside blocks and receipts: whole transactions, logs of many blocks, and what the escrow has paid. */
import { decodeFunctionData, encodeFunctionResult, type Hex, numberToHex } from 'viem';
import { businessEscrowAbi } from '../../../../src/chain/contracts/abis.ts';
import type { RpcTransaction } from '../../../../src/chain/rpc/signed-transaction.ts';
import { CHAIN_ID } from './accounts.ts';
import { type ReadTransaction, signatureOf } from './cheap-signer.ts';
import type { ModelBlock, ModelLog } from './model-chain.ts';

/** A transaction as nodes write it, in a block or waiting. */
export function shownTransaction(transaction: ReadTransaction): RpcTransaction {
  const { hash, from, to, nonce, data, valueWei, gas, maxFeeWei, priorityFeeWei } = transaction;
  const { r, s, yParity } = signatureOf(from);
  return {
    hash,
    from,
    to,
    nonce: numberToHex(nonce),
    input: data,
    value: numberToHex(valueWei),
    gas: numberToHex(gas),
    type: '0x2',
    chainId: numberToHex(CHAIN_ID),
    maxFeePerGas: numberToHex(maxFeeWei),
    maxPriorityFeePerGas: numberToHex(priorityFeeWei),
    accessList: [],
    r,
    s,
    v: numberToHex(yParity),
    yParity: numberToHex(yParity),
  };
}

/** The transactions of a block as nodes write them; of moves that are not ours, nobody looks at more than the sender. */
export const shownInBlock = ({ entries }: ModelBlock): Partial<RpcTransaction>[] =>
  entries.map((entry) => {
    if ('transaction' in entry) return shownTransaction(entry.transaction);
    const { move } = entry;
    return { hash: move.hash, from: 'wallet' in move ? move.wallet : move.brandId, to: null };
  });

export interface LogFilter {
  fromBlock: Hex;
  toBlock: Hex;
  address: Hex | Hex[];
  topics: (Hex | Hex[])[];
}

const isAmong = (wanted: Hex | Hex[] | undefined, found: Hex | undefined) =>
  wanted === undefined ||
  [wanted].flat().some((one) => found !== undefined && one.toLowerCase() === found.toLowerCase());

export const passes = (log: ModelLog, { address, topics }: Pick<LogFilter, 'address' | 'topics'>) =>
  isAmong(address, log.address) && topics.every((wanted, place) => isAmong(wanted, log.topics[place]));

/** What the escrow answers to `paidWord`: the only one of its views that is read here. */
export function readEscrow({ state }: ModelBlock, data: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: businessEscrowAbi, data });
  if (functionName !== 'paidWord') throw new Error(`the model's escrow has no ${functionName}`);
  const first = Number(args[0]) * 256;
  let word = 0n;
  for (const sequence of state.paid)
    if (sequence >= first && sequence < first + 256) word |= 1n << BigInt(sequence - first);
  return encodeFunctionResult({ abi: businessEscrowAbi, functionName, result: word });
}
