/**
 * The bytes of a batch of rewards for the escrow's `distributePacked`: an amount once for all rewards that have it, and
 * sequences as steps from one to the next.
 */
import type { Hex } from 'viem';

/** One reward to pay. `amount` is in whole RWT. Addresses may be in any case. */
export type PayoutEntry = {
  readonly sequence: bigint;
  readonly brandId: Hex;
  readonly to: Hex;
  readonly amount: bigint;
};

/** A reward as a batch has it: lower-case hex without prefix, and its place after the batch's lowest sequence. */
type BatchEntry = {
  readonly offset: number;
  readonly brand: string;
  readonly to: string;
  readonly amount: bigint;
};

/** Sequences of one batch lie within this many of each other. */
export const MAX_SEQUENCE_SPAN = 65_536;

export const MAX_UINT64 = 2n ** 64n - 1n;

/** Hex digits, two a byte, of the base sequence that a batch begins with. */
const BASE_DIGITS = 16;
const ADDRESS_DIGITS = 40;

const SELECTOR = '50882ce8';
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

/** Calldata of the escrow's function, with a batch as its only argument. */
export const framed = (batch: string): Hex =>
  `0x${SELECTOR}${hexDigits(32, WORD_DIGITS)}${hexDigits(batch.length / 2, WORD_DIGITS)}${batch}${paddingOf(batch)}`;

/**
 * The digits of the batch in such calldata, in lower case.
 * @throws RangeError when it is not exactly such calldata.
 */
export function unframed(calldata: Hex): string {
  const digits = calldata.slice(2).toLowerCase();
  const head = SELECTOR.length + WORD_DIGITS;
  const start = head + WORD_DIGITS;
  const end = start + Number.parseInt(digits.slice(head, start), 16) * 2;
  const batch = digits.slice(start, end);
  const fits =
    /^0x[0-9a-f]*$/i.test(calldata) &&
    digits.slice(0, head) === SELECTOR + hexDigits(32, WORD_DIGITS) &&
    batch.length === end - start &&
    digits.slice(end) === paddingOf(batch);
  if (!fits) throw new RangeError('not the calldata of a payout batch');
  return batch;
}

/** The lowest sequence of a batch. */
function baseOf(batch: string): bigint {
  if (batch.length < BASE_DIGITS) throw malformedBatch();
  return BigInt(`0x${batch.slice(0, BASE_DIGITS)}`);
}

const malformedBatch = () => new RangeError('the batch is malformed');

const hexDigits = (value: bigint | number, digits: number): string =>
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

/** The most that one byte says: groups of a brand, rewards of a group, sequences between two of its rewards. */
const MAX_BYTE = 255;
const MAX_AMOUNT_DIGITS = 16;

// Positions below are in hex digits, two a byte.
const BRAND_DIGITS = ADDRESS_DIGITS + 2;
const GROUP_DIGITS = 8;
const ENTRY_DIGITS = 2 + ADDRESS_DIGITS;

/** Rewards of one brand and amount whose sequences lie close to each other. */
interface Group {
  readonly first: number;
  readonly amount: bigint;
  count: number;
  /** The sequence after the last one. */
  next: number;
  body: string;
}

/** Within a brand by amount, in order of each amount's first reward. */
export function packedBatch(base: bigint, brands: ReadonlyMap<string, readonly BatchEntry[]>): string {
  let batch = hexDigits(base, BASE_DIGITS);
  for (const [brand, rewards] of brands) {
    const groups = groupsOf(rewards);
    // A brand with more groups than it can say comes again.
    for (let first = 0; first < groups.length; first += MAX_BYTE) {
      const some = groups.slice(first, first + MAX_BYTE);
      batch += brand + hexDigits(some.length, 2) + some.map(groupDigits).join('');
    }
  }
  return batch;
}

function groupsOf(rewards: readonly BatchEntry[]): Group[] {
  const byAmount = new Map<bigint, Group[]>();
  for (const { offset, to, amount } of rewards) {
    const groups = byAmount.get(amount) ?? [];
    byAmount.set(amount, groups);
    let group = groups.at(-1);
    const between = offset - (group?.next ?? offset);
    if (group === undefined || group.count === MAX_BYTE || between < 0 || between > MAX_BYTE) {
      group = { first: offset, amount, count: 0, next: offset, body: '' };
      groups.push(group);
    }
    group.body += hexDigits(offset - group.next, 2) + to;
    group.next = offset + 1;
    group.count += 1;
  }
  return [...byAmount.values()].flat();
}

function groupDigits({ first, amount, count, body }: Group): string {
  const digits = amount === 0n ? '' : amount.toString(16);
  const length = Math.ceil(digits.length / 2);
  return (
    hexDigits(first, 4) + hexDigits(count, 2) + hexDigits(length, 2) + digits.padStart(length * 2, '0') + body
  );
}

/** @throws RangeError when the escrow would refuse it. */
export function readPackedBatch(batch: string): PayoutEntry[] {
  const base = baseOf(batch);
  const entries: PayoutEntry[] = [];
  let position = BASE_DIGITS;
  while (position < batch.length) {
    const brandId = `0x${batch.slice(position, position + ADDRESS_DIGITS)}` as const;
    const groups = Number.parseInt(batch.slice(position + ADDRESS_DIGITS, position + BRAND_DIGITS), 16);
    position += BRAND_DIGITS;
    // Not a number, of a header that is cut short, fails these comparisons too.
    if (!(groups > 0)) throw malformedBatch();
    for (let group = 0; group < groups; group++)
      position = readGroup(batch, position, { base, brandId, entries });
  }
  if (entries.length === 0) throw malformedBatch();
  return entries;
}

/** Adds the rewards of the group that begins here, and returns where it ends. */
function readGroup(
  batch: string,
  start: number,
  { base, brandId, entries }: { base: bigint; brandId: `0x${string}`; entries: PayoutEntry[] },
): number {
  const count = Number.parseInt(batch.slice(start + 4, start + 6), 16);
  const amountDigits = Number.parseInt(batch.slice(start + 6, start + GROUP_DIGITS), 16) * 2;
  const amountEnd = start + GROUP_DIGITS + amountDigits;
  const end = amountEnd + count * ENTRY_DIGITS;
  if (!(count > 0 && amountDigits <= MAX_AMOUNT_DIGITS && end <= batch.length)) throw malformedBatch();
  const amount = BigInt(`0x0${batch.slice(start + GROUP_DIGITS, amountEnd)}`);
  let next = Number.parseInt(batch.slice(start, start + 4), 16);
  for (let position = amountEnd; position < end; position += ENTRY_DIGITS) {
    const offset = next + Number.parseInt(batch.slice(position, position + 2), 16);
    const to = `0x${batch.slice(position + 2, position + ENTRY_DIGITS)}` as const;
    entries.push({ sequence: base + BigInt(offset), brandId, to, amount });
    next = offset + 1;
  }
  return end;
}
