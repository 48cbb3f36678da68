/**
 * A past for ledger and chain together: rewards in batches, one a block, signed by the payout account, and the logs that
 * the contracts would have written. Everything follows from the sequence, so that a million need not be kept.
 */
import { type Hex, keccak256, numberToHex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { encodePayoutBatch, type PayoutEntry } from '../../src/chain/contracts/payout-batch.ts';

export const CHAIN_ID = 4343;
export const AMOUNT = 5;
/** RWT of each brand: more than is ever paid. */
export const DEPOSIT = 1_000_000_000_000n;
export const DEPLOYMENT_BLOCK = 1;
const DEPOSIT_BLOCK = 2;
const FIRST_BATCH_BLOCK = 10;

export const brandIds: Hex[] = [0, 1, 2, 3].map((place) => numberToHex(0xb1 + place, { size: 20 }));
const contract = (place: number) => numberToHex(0xc0ffee00n + BigInt(place), { size: 20 });
export const contracts = {
  token: contract(1),
  escrow: contract(2),
  perks: contract(3),
  pointsSale: contract(4),
};
const keyOf = (name: string) => keccak256(toHex(`bench ${name}`));
export const keys = { payout: keyOf('payout'), mint: keyOf('mint'), relay: keyOf('relay') };
export const accounts = {
  payout: privateKeyToAccount(keys.payout).address.toLowerCase() as Hex,
  mint: privateKeyToAccount(keys.mint).address.toLowerCase() as Hex,
  relay: privateKeyToAccount(keys.relay).address.toLowerCase() as Hex,
};

/** As the service writes it into its ledger: with a checksum. */
export const payoutLane = privateKeyToAccount(keys.payout).address;

export interface HistoryPlan {
  rewards: number;
  /** Rewards of a batch, which is a transaction and a block. */
  batch: number;
  /** When the last block of the past was made. */
  headAtMs: number;
}

export const blockHash = (number: number): Hex => `0x${'b10c'.repeat(12)}${hexDigits(number, 16)}`;
const hexDigits = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
export const walletOf = (sequence: number): Hex => `0x${'7a'.repeat(12)}${hexDigits(sequence, 16)}`;
export const brandOf = (sequence: number): Hex => brandIds[sequence % brandIds.length] ?? '0x';
export const depositHash = (place: number): Hex => keccak256(toHex(`bench deposit ${place}`));

export function planHistory({ rewards, batch, headAtMs }: HistoryPlan) {
  const batches = Math.ceil(rewards / batch);
  const headBlock = FIRST_BATCH_BLOCK + batches - 1;
  const first = (place: number) => place * batch;
  const past = (place: number) => Math.min(rewards, first(place) + batch);
  const entries = (place: number): PayoutEntry[] => {
    const sequences = Array.from({ length: past(place) - first(place) }, (_, index) => first(place) + index);
    return brandIds.flatMap((brandId) =>
      sequences
        .filter((sequence) => brandOf(sequence) === brandId)
        .map((sequence) => ({
          sequence: BigInt(sequence),
          brandId,
          to: walletOf(sequence),
          amount: BigInt(AMOUNT),
        })),
    );
  };
  const signer = privateKeyToAccount(keys.payout);
  return {
    rewards,
    batches,
    headBlock,
    depositBlock: DEPOSIT_BLOCK,
    /** The batch in a block; undefined for blocks without one. */
    batchIn(block: number): number | undefined {
      const place = block - FIRST_BATCH_BLOCK;
      return place >= 0 && place < batches ? place : undefined;
    },
    blockOf: (place: number) => FIRST_BATCH_BLOCK + place,
    batchOf: (sequence: number) => Math.floor(sequence / batch),
    timestampSeconds: (block: number) => Math.floor(headAtMs / 1_000) - (headBlock - block),
    /** Of a batch, in the order of its calldata: brand by brand. */
    entries,
    /** Rewards that a brand was paid for up to a block. */
    paidUpTo(brandPlace: number, block: number): bigint {
      const count = Math.min(rewards, Math.max(0, block - FIRST_BATCH_BLOCK + 1) * batch);
      return BigInt(Math.floor((count - brandPlace + brandIds.length - 1) / brandIds.length));
    },
    /** The signed bytes of a batch. */
    sign: (place: number) =>
      signer.signTransaction({
        type: 'eip1559',
        chainId: CHAIN_ID,
        nonce: place,
        to: contracts.escrow,
        data: encodePayoutBatch(entries(place)),
        gas: 16_000_000n,
        maxFeePerGas: 3n * 10n ** 9n,
        maxPriorityFeePerGas: 10n ** 9n,
      }),
  };
}

export type History = ReturnType<typeof planHistory>;
