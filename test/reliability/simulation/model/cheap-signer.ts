/** Signs without elliptic curves: the bytes parse like any others, and the "signature" names the sender. */
import { type Hex, parseTransaction, serializeTransaction, type TransactionSerializable } from 'viem';
import type { Signer } from '../../../../src/chain/lane/types.ts';

const word = (digits: string): Hex => `0x${digits.padStart(64, '0')}`;

export const signatureOf = (address: Hex) => ({ r: word(address.slice(2)), s: word('1'), yParity: 0 });

export const signCheaply = (address: Hex, transaction: TransactionSerializable): Hex =>
  serializeTransaction(transaction, signatureOf(address));

export const cheapSigner = (address: Hex): Signer => ({
  address,
  signTransaction: async (transaction) => signCheaply(address, transaction),
});

/** A transaction as a node reads it from its bytes. */
export interface ReadTransaction {
  raw: Hex;
  hash: Hex;
  from: Hex;
  nonce: number;
  to: Hex;
  data: Hex;
  valueWei: bigint;
  gas: bigint;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

export function readTransaction(raw: Hex, hash: Hex): ReadTransaction {
  const read = parseTransaction(raw);
  if (read.type !== 'eip1559' || !('r' in read) || !read.r || !read.to) throw new Error('not a payout');
  return {
    raw,
    hash,
    from: `0x${read.r.slice(2).padStart(40, '0').slice(-40)}`,
    nonce: read.nonce ?? 0,
    to: read.to,
    data: read.data ?? '0x',
    valueWei: read.value ?? 0n,
    gas: read.gas ?? 0n,
    maxFeeWei: read.maxFeePerGas ?? 0n,
    priorityFeeWei: read.maxPriorityFeePerGas ?? 0n,
  };
}
