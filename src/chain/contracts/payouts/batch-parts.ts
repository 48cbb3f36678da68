/** What both forms of a batch of rewards are made of: checked rewards in hex, and the frame that the ABI puts around a batch. */
import type { Hex } from 'viem';

/** One reward to pay. `amount` is in whole RWT. Addresses may be in any case. */
export type PayoutEntry = {
  readonly sequence: bigint;
  readonly brandId: Hex;
  readonly to: Hex;
  readonly amount: bigint;
};

/** A reward as a batch has it: lower-case hex without prefix, and its place after the batch's lowest sequence. */
export type BatchEntry = {
  readonly offset: number;
  readonly brand: string;
  readonly to: string;
  readonly amount: bigint;
};

/** Sequences of one batch lie within this many of each other. */
export const MAX_SEQUENCE_SPAN = 65_536;

export const MAX_UINT64 = 2n ** 64n - 1n;

/** Hex digits, two a byte, of the base sequence that a batch of either form begins with. */
export const BASE_DIGITS = 16;
export const ADDRESS_DIGITS = 40;

const SELECTOR_DIGITS = 8;
const WORD_DIGITS = 64;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * The lowest sequence, and the rewards in the order in which a batch has them: by brand in order of each brand's first
 * reward; within a brand the given order is kept.
 * @throws RangeError when empty, when sequences span more than 65,536, when a sequence or amount does not fit
 * 64 bits, or when an address is not 20 bytes of hex.
 */
export function batchEntries(entries: readonly PayoutEntry[]): {
  base: bigint;
  brands: Map<string, BatchEntry[]>;
} {
  const base = lowestSequence(entries);
  const brands = new Map<string, BatchEntry[]>();
  for (const { sequence, brandId, to, amount } of entries) {
    const offset = sequence - base;
    if (offset >= MAX_SEQUENCE_SPAN) throw new RangeError(`sequence ${sequence} is too far from ${base}`);
    if (amount < 0n || amount > MAX_UINT64) throw new RangeError(`amount ${amount} does not fit 64 bits`);
    if (!ADDRESS.test(to)) throw new RangeError(`recipient ${to} is not an address`);
    const brand = brandId.slice(2).toLowerCase();
    let rewards = brands.get(brand);
    if (rewards === undefined) {
      if (!ADDRESS.test(brandId)) throw new RangeError(`brand ${brandId} is not an address`);
      rewards = [];
      brands.set(brand, rewards);
    }
    rewards.push({ offset: Number(offset), brand, to: to.slice(2).toLowerCase(), amount });
  }
  return { base, brands };
}

/** Calldata of a function that takes a batch as its only argument. */
export function framed(selector: string, batch: string): Hex {
  return `0x${selector}${hexDigits(32, WORD_DIGITS)}${hexDigits(batch.length / 2, WORD_DIGITS)}${batch}${paddingOf(batch)}`;
}

/**
 * The selector of such calldata and the digits of its batch, both in lower case.
 * @throws RangeError when it is not exactly such calldata.
 */
export function unframed(calldata: Hex): { selector: string; batch: string } {
  const digits = calldata.slice(2).toLowerCase();
  const head = SELECTOR_DIGITS + WORD_DIGITS;
  const start = head + WORD_DIGITS;
  const end = start + Number.parseInt(digits.slice(head, start), 16) * 2;
  const batch = digits.slice(start, end);
  const fits =
    /^0x[0-9a-f]*$/i.test(calldata) &&
    digits.slice(SELECTOR_DIGITS, head) === hexDigits(32, WORD_DIGITS) &&
    batch.length === end - start &&
    digits.slice(end) === paddingOf(batch);
  if (!fits) throw notABatch();
  return { selector: digits.slice(0, SELECTOR_DIGITS), batch };
}

/**
 * The lowest sequence of a batch, which both forms begin with.
 * @throws RangeError when the batch is shorter than that.
 */
export function baseOf(batch: string): bigint {
  if (batch.length < BASE_DIGITS) throw malformedBatch();
  return BigInt(`0x${batch.slice(0, BASE_DIGITS)}`);
}

export const notABatch = () => new RangeError('not the calldata of a payout batch');
export const malformedBatch = () => new RangeError('the batch is malformed');

export const hexDigits = (value: bigint | number, digits: number): string =>
  value.toString(16).padStart(digits, '0');

const paddingOf = (batch: string) => '0'.repeat((WORD_DIGITS - (batch.length % WORD_DIGITS)) % WORD_DIGITS);

function lowestSequence(entries: readonly PayoutEntry[]): bigint {
  let lowest = MAX_UINT64 + 1n;
  for (const { sequence } of entries) {
    if (sequence < 0n || sequence > MAX_UINT64)
      throw new RangeError(`sequence ${sequence} does not fit 64 bits`);
    if (sequence < lowest) lowest = sequence;
  }
  if (lowest > MAX_UINT64) throw new RangeError('a batch needs at least one reward');
  return lowest;
}
