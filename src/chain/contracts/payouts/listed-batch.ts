/** Batches of `distribute`, the function of escrows that earlier versions deployed: each reward with its sequence and amount. */
import {
  ADDRESS_DIGITS,
  BASE_DIGITS,
  type BatchEntry,
  baseOf,
  hexDigits,
  malformedBatch,
  type PayoutEntry,
} from './batch-parts.ts';

export const LISTED_SELECTOR = 'c12fc38b';

const MAX_GROUP_ENTRIES = 65_535;

// Positions below are in hex digits, two a byte.
const OFFSET_DIGITS = 4;
const GROUP_DIGITS = ADDRESS_DIGITS + 4;
const RECIPIENT_END = OFFSET_DIGITS + ADDRESS_DIGITS;
const ENTRY_DIGITS = RECIPIENT_END + 16;

/** @throws RangeError when a brand has more than 65,535 rewards. */
export function listedBatch(base: bigint, brands: ReadonlyMap<string, readonly BatchEntry[]>): string {
  let batch = hexDigits(base, BASE_DIGITS);
  for (const [brand, rewards] of brands) {
    if (rewards.length > MAX_GROUP_ENTRIES)
      throw new RangeError(`brand 0x${brand} has more than ${MAX_GROUP_ENTRIES} rewards`);
    batch += brand + hexDigits(rewards.length, 4);
    for (const { offset, to, amount } of rewards)
      batch += hexDigits(offset, OFFSET_DIGITS) + to + hexDigits(amount, 16);
  }
  return batch;
}

/** @throws RangeError when the escrow would refuse it. */
export function readListedBatch(batch: string): PayoutEntry[] {
  const base = baseOf(batch);
  const entries: PayoutEntry[] = [];
  let position = BASE_DIGITS;
  while (position < batch.length) {
    const brandId = `0x${batch.slice(position, position + ADDRESS_DIGITS)}` as const;
    const count = Number.parseInt(batch.slice(position + ADDRESS_DIGITS, position + GROUP_DIGITS), 16);
    position += GROUP_DIGITS;
    const end = position + count * ENTRY_DIGITS;
    // Not a number fails the comparison too: the header itself is cut short.
    if (!(count > 0 && end <= batch.length)) throw malformedBatch();
    for (; position < end; position += ENTRY_DIGITS) {
      entries.push({
        sequence: base + BigInt(`0x${batch.slice(position, position + OFFSET_DIGITS)}`),
        brandId,
        to: `0x${batch.slice(position + OFFSET_DIGITS, position + RECIPIENT_END)}`,
        amount: BigInt(`0x${batch.slice(position + RECIPIENT_END, position + ENTRY_DIGITS)}`),
      });
    }
  }
  if (entries.length === 0) throw malformedBatch();
  return entries;
}
