/** Calldata with which the escrow pays a batch of rewards: packs rewards, reads a batch back, and bounds its gas. */
import { type Hex, parseTransaction } from 'viem';
import {
  batchEntries,
  framed,
  MAX_SEQUENCE_SPAN,
  MAX_UINT64,
  type PayoutEntry,
  packedBatch,
  readPackedBatch,
  unframed,
} from './packed-batch.ts';

export type { PayoutEntry } from './packed-batch.ts';

/** Why the escrow skipped a reward, by the `reason` of its RewardSkipped event. */
export const skipReasons = {
  1: 'already_paid',
  2: 'zero_address',
  3: 'forbidden_recipient',
  4: 'zero_amount',
  5: 'insufficient_brand_balance',
} as const;

/**
 * Packs rewards into calldata for the escrow. Rewards are grouped by brand in order of each brand's first reward; within
 * a brand by amount in the same way; otherwise the given order is kept. Amount zero and odd
 * recipients are encoded: the contract skips and reports them.
 * @throws RangeError when empty, when sequences span more than 65,536, when a sequence or amount does not fit
 * 64 bits, or when an address is not 20 bytes of hex.
 */
export function encodePayoutBatch(entries: readonly PayoutEntry[]): Hex {
  const { base, brands } = batchEntries(entries);
  return framed(packedBatch(base, brands));
}

/**
 * Reads calldata made by `encodePayoutBatch`, in the batch's order, addresses in lower case.
 * @throws RangeError when it is not exactly such calldata.
 */
export const decodePayoutBatch = (calldata: Hex): PayoutEntry[] => readPackedBatch(unframed(calldata));

/** What the gas of a batch depends on: rewards, groups of brands, and words of the bitmap of paid sequences. */
export function batchShape(entries: readonly PayoutEntry[]): {
  count: number;
  brands: number;
  words: number;
} {
  const brands = new Set<string>();
  const words = new Set<bigint>();
  for (const { brandId, sequence } of entries) {
    brands.add(brandId.toLowerCase());
    words.add(sequence >> 8n);
  }
  return { count: entries.length, brands: brands.size, words: words.size };
}

// Upper bounds in gas, each a little above the dearest case that test/solidity/gas.test.ts builds.
const GAS_FIXED = 50_000;
const GAS_PER_REWARD = 26_800;
const GAS_PER_BRAND = 7_000;
const GAS_PER_WORD = 22_600;

/** A transaction may not ask for more than 2^24 gas (EIP-7825); this leaves some room. */
export const MAX_BATCH_GAS = 16_000_000n;

/** A safe gas limit for a batch of this shape: every recipient new, or every reward skipped and logged. */
export function payoutGasLimit(count: number, brands: number, words: number): bigint {
  return BigInt(GAS_FIXED + count * GAS_PER_REWARD + brands * GAS_PER_BRAND + words * GAS_PER_WORD);
}

/**
 * How many of these rewards, from the first on, fit into one batch: at most `countMax`, within 65,536 sequences,
 * and with a gas limit of at most `gasMax` and 16,000,000. 400 rewards fit unless their sequences are scattered over more than
 * a hundred words of the bitmap. At least 1 when there is a reward at all.
 */
export function fittingPayouts(
  entries: readonly PayoutEntry[],
  { countMax, gasMax }: { countMax: number; gasMax: bigint },
): number {
  const gasLimit = gasMax < MAX_BATCH_GAS ? gasMax : MAX_BATCH_GAS;
  const brands = new Set<string>();
  const words = new Set<bigint>();
  let lowest = MAX_UINT64;
  let highest = 0n;
  let count = 0;
  for (const { brandId, sequence } of entries) {
    if (count === countMax) break;
    if (sequence < lowest) lowest = sequence;
    if (sequence > highest) highest = sequence;
    brands.add(brandId.toLowerCase());
    words.add(sequence >> 8n);
    const fits =
      highest - lowest < MAX_SEQUENCE_SPAN && payoutGasLimit(count + 1, brands.size, words.size) <= gasLimit;
    // One reward alone has no smaller batch.
    if (!fits && count > 0) break;
    count += 1;
  }
  return count;
}

/** The rewards that signed bytes of the payout lane pay. */
export function paidInPayout(raw: Hex): { sequence: number; brandId: Hex }[] {
  const { data } = parseTransaction(raw);
  return decodePayoutBatch(data ?? '0x').map(({ sequence, brandId }) => ({
    sequence: Number(sequence),
    brandId,
  }));
}

/** Their sequences. */
export const sequencesInPayout = (raw: Hex): number[] => paidInPayout(raw).map(({ sequence }) => sequence);
