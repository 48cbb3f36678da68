/** Signed transactions as nodes show them, put together again into the bytes that were signed. */
import { type Hex, hexToBigInt, hexToNumber, serializeTransaction, type TransactionSerializable } from 'viem';
import { keccak256OfHex } from '../../lib/keccak256.ts';

/** A transaction as nodes write it, in a block or waiting. */
export interface RpcTransaction {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  nonce: Hex;
  input: Hex;
  value: Hex;
  gas: Hex;
  type?: Hex;
  chainId?: Hex;
  gasPrice?: Hex;
  maxFeePerGas?: Hex;
  maxPriorityFeePerGas?: Hex;
  accessList?: { address: Hex; storageKeys: Hex[] }[];
  r?: Hex;
  s?: Hex;
  v?: Hex;
  yParity?: Hex;
  blockNumber?: Hex | null;
  transactionIndex?: Hex | null;
}

const whole = (value: Hex | undefined) => (value === undefined ? undefined : hexToBigInt(value));

/** What a transaction offers, in wei for a unit of gas. */
export const offerIn = (shown: RpcTransaction): { maxFeeWei: bigint; priorityFeeWei: bigint } => ({
  maxFeeWei: BigInt(shown.maxFeePerGas ?? shown.gasPrice ?? '0x0'),
  priorityFeeWei: BigInt(shown.maxPriorityFeePerGas ?? shown.gasPrice ?? '0x0'),
});

/** The signed bytes, or undefined where what the node shows does not hash to the transaction: a form that is not known here. */
export function signedBytesOf(shown: RpcTransaction): Hex | undefined {
  const { r, s, v, yParity } = shown;
  if (r === undefined || s === undefined) return undefined;
  const parity = yParity ?? v;
  const shared = {
    chainId: shown.chainId === undefined ? undefined : hexToNumber(shown.chainId),
    nonce: hexToNumber(shown.nonce),
    to: shown.to,
    data: shown.input,
    value: hexToBigInt(shown.value),
    gas: hexToBigInt(shown.gas),
  };
  const isOfFees = shown.type === undefined || shown.type === '0x2';
  const form = isOfFees
    ? {
        type: 'eip1559',
        accessList: shown.accessList,
        maxFeePerGas: whole(shown.maxFeePerGas),
        maxPriorityFeePerGas: whole(shown.maxPriorityFeePerGas),
      }
    : {
        type: shown.type === '0x1' ? 'eip2930' : 'legacy',
        gasPrice: whole(shown.gasPrice),
        ...(shown.type === '0x1' && { accessList: shown.accessList }),
      };
  try {
    const raw = serializeTransaction(
      { ...shared, ...form } as TransactionSerializable,
      {
        r: padded(r),
        s: padded(s),
        ...(shown.type === '0x0' ? { v: whole(v) } : { yParity: Number(hexToBigInt(parity ?? '0x0')) }),
      } as Parameters<typeof serializeTransaction>[1],
    );
    return keccak256OfHex(raw) === shown.hash ? raw : undefined;
  } catch {
    return undefined;
  }
}

const padded = (part: Hex): Hex => `0x${part.slice(2).padStart(64, '0')}`;
