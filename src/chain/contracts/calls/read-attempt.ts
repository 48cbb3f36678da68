/** Reads signed bytes: their signer, nonce and payload. */
import { type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import { decodePayoutBatch, type PayoutEntry } from '../payout-batch.ts';

interface ReadAttempt {
  hash: Hex;
  nonce: number;
  chainId: number;
  /** Recipient, value and data: what all attempts of one nonce share. */
  payload: string;
  isEmpty: boolean;
}

/** What a transaction does, in one form, however a node or an encoder spells it. */
export const payloadText = (of: { to: Hex | null | undefined; value: bigint; data: Hex }): string =>
  `${of.to?.toLowerCase()} ${of.value} ${of.data.toLowerCase()}`;

/** Undefined for bytes that are not a transaction. */
export function readAttempt(raw: Hex): ReadAttempt | undefined {
  try {
    const { to, value = 0n, data = '0x', nonce = 0, chainId = 0 } = parseTransaction(raw);
    return {
      hash: keccak256(Buffer.from(raw.slice(2), 'hex')),
      nonce,
      chainId,
      payload: payloadText({ to, value, data }),
      isEmpty: data === '0x' && value === 0n,
    };
  } catch {
    return undefined;
  }
}

/** Who signed the bytes, lower case; undefined for unsigned bytes. Takes some milliseconds. */
export async function signerOf(raw: Hex): Promise<Hex | undefined> {
  try {
    const serializedTransaction = raw as Parameters<
      typeof recoverTransactionAddress
    >[0]['serializedTransaction'];
    return (await recoverTransactionAddress({ serializedTransaction })).toLowerCase() as Hex;
  } catch {
    return undefined;
  }
}

/** The rewards that signed bytes pay; empty when the bytes are not a payout batch. */
export function payoutsIn(raw: Hex): PayoutEntry[] {
  try {
    return decodePayoutBatch(parseTransaction(raw).data ?? '0x');
  } catch {
    return [];
  }
}

/** Whether two signed transactions do the same: recipient, value and data. */
export function isSamePayload(one: Hex, other: Hex): boolean {
  const first = readAttempt(one);
  return first !== undefined && first.payload === readAttempt(other)?.payload;
}
