/** Calldata of `BusinessEscrow.distribute`: packs rewards into a batch, reads one back, and bounds its gas. */
import { type Hex, parseTransaction } from 'viem';

/** One reward to pay. `amount` is in whole RWT. Addresses may be in any case. */
export type PayoutEntry = {
  readonly sequence: bigint;
  readonly brandId: Hex;
  readonly to: Hex;
  readonly amount: bigint;
};

/** Why the escrow skipped a reward, by the `reason` of its RewardSkipped event. */
export const skipReasons = {
  1: 'already_paid',
  2: 'zero_address',
  3: 'forbidden_recipient',
  4: 'zero_amount',
  5: 'insufficient_brand_balance',
} as const;

/** Sequences of one batch lie within this many of each other. */
const MAX_SEQUENCE_SPAN = 65_536;

const DISTRIBUTE_SELECTOR = 'c12fc38b';
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_GROUP_ENTRIES = 65_535;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

// Positions below are in hex digits, two a byte.
const BASE_DIGITS = 16;
const GROUP_DIGITS = 44;
const ENTRY_DIGITS = 60;

/**
 * Packs rewards into calldata for `distribute`. Rewards are grouped by brand in order of each brand's first
 * reward; within a brand the given order is kept. Amount zero and odd recipients are encoded: the contract
 * skips and reports them.
 * @throws RangeError when empty, when sequences span more than 65,536, when a sequence or amount does not fit
 * 64 bits, when a brand has more than 65,535 rewards, or when an address is not 20 bytes of hex.
 */
export function encodePayoutBatch(entries: readonly PayoutEntry[]): Hex {
  const base = lowestSequence(entries);
  const groups = new Map<string, { count: number; body: string }>();
  for (const { sequence, brandId, to, amount } of entries) {
    const offset = sequence - base;
    if (offset >= MAX_SEQUENCE_SPAN) throw new RangeError(`sequence ${sequence} is too far from ${base}`);
    if (amount < 0n || amount > MAX_UINT64) throw new RangeError(`amount ${amount} does not fit 64 bits`);
    if (!ADDRESS.test(to)) throw new RangeError(`recipient ${to} is not an address`);
    const body = hexDigits(offset, 4) + to.slice(2).toLowerCase() + hexDigits(amount, 16);
    const brand = brandId.toLowerCase();
    const group = groups.get(brand);
    if (group === undefined) {
      if (!ADDRESS.test(brand)) throw new RangeError(`brand ${brandId} is not an address`);
      groups.set(brand, { count: 1, body });
    } else {
      group.count += 1;
      group.body += body;
    }
  }

  let batch = hexDigits(base, BASE_DIGITS);
  for (const [brand, { count, body }] of groups) {
    if (count > MAX_GROUP_ENTRIES)
      throw new RangeError(`brand ${brand} has more than ${MAX_GROUP_ENTRIES} rewards`);
    batch += brand.slice(2) + hexDigits(BigInt(count), 4) + body;
  }
  const lengthBytes = batch.length / 2;
  const padding = '0'.repeat((64 - (batch.length % 64)) % 64);
  return `0x${DISTRIBUTE_SELECTOR}${hexDigits(32n, 64)}${hexDigits(BigInt(lengthBytes), 64)}${batch}${padding}`;
}

/**
 * Reads calldata made by `encodePayoutBatch`, in its order, addresses in lower case.
 * @throws RangeError when it is not exactly such calldata.
 */
export function decodePayoutBatch(calldata: Hex): PayoutEntry[] {
  const batch = batchDigits(calldata.toLowerCase());
  const base = BigInt(`0x${batch.slice(0, BASE_DIGITS)}`);
  const entries: PayoutEntry[] = [];
  let position = BASE_DIGITS;
  while (position < batch.length) {
    const brandId: Hex = `0x${batch.slice(position, position + 40)}`;
    const count = Number.parseInt(batch.slice(position + 40, position + GROUP_DIGITS), 16);
    position += GROUP_DIGITS;
    const end = position + count * ENTRY_DIGITS;
    // Not a number fails the comparison too: the header itself is cut short.
    if (!(count > 0 && end <= batch.length)) throw new RangeError('the batch is malformed');
    for (; position < end; position += ENTRY_DIGITS) {
      entries.push({
        sequence: base + BigInt(`0x${batch.slice(position, position + 4)}`),
        brandId,
        to: `0x${batch.slice(position + 4, position + 44)}`,
        amount: BigInt(`0x${batch.slice(position + 44, position + ENTRY_DIGITS)}`),
      });
    }
  }
  if (entries.length === 0) throw new RangeError('the batch is malformed');
  return entries;
}

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
const GAS_PER_REWARD = 26_400;
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

function batchDigits(calldata: string): string {
  const head = 2 + DISTRIBUTE_SELECTOR.length;
  const lengthBytes = Number.parseInt(calldata.slice(head + 64, head + 128), 16);
  const batch = calldata.slice(head + 128, head + 128 + lengthBytes * 2);
  const padding = calldata.slice(head + 128 + lengthBytes * 2);
  const fits =
    /^0x[0-9a-f]*$/.test(calldata) &&
    calldata.slice(2, head) === DISTRIBUTE_SELECTOR &&
    calldata.slice(head, head + 64) === hexDigits(32n, 64) &&
    batch.length === lengthBytes * 2 &&
    padding === '0'.repeat((64 - (batch.length % 64)) % 64);
  if (!fits) throw new RangeError('not the calldata of a payout batch');
  return batch;
}

function hexDigits(value: bigint, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** The sequences of the rewards that signed bytes of the payout lane pay. */
export function sequencesInPayout(raw: Hex): number[] {
  const { data } = parseTransaction(raw);
  return decodePayoutBatch(data ?? '0x').map(({ sequence }) => Number(sequence));
}
