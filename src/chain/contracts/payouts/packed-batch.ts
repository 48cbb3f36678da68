/** Batches of `distributePacked`: an amount once for all rewards that have it, and sequences as steps from one to the next. */
import {
  ADDRESS_DIGITS,
  BASE_DIGITS,
  type BatchEntry,
  baseOf,
  hexDigits,
  malformedBatch,
  type PayoutEntry,
} from './batch-parts.ts';

export const PACKED_SELECTOR = '50882ce8';

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
