/** Reads signed bytes: their signer, nonce and payload. */
import { type Hex, keccak256, parseTransaction, recoverTransactionAddress } from 'viem';
import { decodePayoutBatch, type PayoutEntry } from '../chain/contracts/payout-batch.ts';

interface ReadAttempt {
  hash: Hex;
  nonce: number;
  chainId: number;
  /** Lower case. */
  signer: Hex;
  /** Recipient, value and data: what all attempts of one nonce share. */
  payload: string;
  isEmpty: boolean;
}

/** Undefined for bytes that are not a signed transaction. */
export async function readAttempt(raw: Hex): Promise<ReadAttempt | undefined> {
  try {
    const { to, value = 0n, data = '0x', nonce = 0, chainId = 0 } = parseTransaction(raw);
    const signer = await recoverTransactionAddress({
      serializedTransaction: raw as Parameters<typeof recoverTransactionAddress>[0]['serializedTransaction'],
    });
    return {
      hash: keccak256(raw),
      nonce,
      chainId,
      signer: signer.toLowerCase() as Hex,
      payload: `${to?.toLowerCase()} ${value} ${data}`,
      isEmpty: data === '0x' && value === 0n,
    };
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
