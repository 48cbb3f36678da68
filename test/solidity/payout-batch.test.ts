/** The encoding of payout batches: round trips, ranges, and the sums on chain after random batches. */

import fc from 'fast-check';
import { decodeFunctionData, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { businessEscrowAbi } from '../../src/chain/contracts/abis.ts';
import { unframed } from '../../src/chain/contracts/packed-batch.ts';
import {
  batchShape,
  decodePayoutBatch,
  encodePayoutBatch,
  fittingPayouts,
  MAX_BATCH_GAS,
  type PayoutEntry,
  payoutGasLimit,
} from '../../src/chain/contracts/payout-batch.ts';
import { newHolder } from './kit.ts';

const most = (countMax: number) => ({ countMax, gasMax: MAX_BATCH_GAS });

const MAX_UINT64 = 2n ** 64n - 1n;
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const batches = fc
  .record({
    base: fc.bigInt({ min: 0n, max: MAX_UINT64 - 65_535n }),
    brands: fc.array(address, { minLength: 1, maxLength: 5 }),
    rewards: fc.array(
      fc.record({
        offset: fc.nat(65_535),
        brand: fc.nat(4),
        to: address,
        amount: fc.bigInt({ min: 0n, max: MAX_UINT64 }),
      }),
      { minLength: 1, maxLength: 60 },
    ),
  })
  .map(({ base, brands, rewards }): PayoutEntry[] =>
    rewards.map(({ offset, brand, to, amount }) => ({
      sequence: base + BigInt(offset),
      brandId: brands[brand % brands.length] ?? to,
      to,
      amount,
    })),
  );

test('decoding gives back what was encoded: grouped by brand and amount, in a stable order', () => {
  fc.assert(
    fc.property(batches, (entries) => {
      const byBrand = grouped(entries, ({ brandId }) => brandId);
      const byAmount = byBrand.flatMap((some) => grouped(some, ({ amount }) => amount).flat());
      expect(decodePayoutBatch(encodePayoutBatch(entries))).toEqual(byAmount);
    }),
    { numRuns: 300 },
  );
});

test('the calldata is what the ABI says', () => {
  fc.assert(
    fc.property(batches, (entries) => {
      const brands = new Set(entries.map(({ brandId }) => brandId)).size;
      const data = encodePayoutBatch(entries);
      const { functionName, args } = decodeFunctionData({ abi: businessEscrowAbi, data });
      expect(functionName).toBe('distributePacked');
      const [batch] = args as readonly [Hex];
      expect(batch.length / 2 - 1).toBeLessThanOrEqual(8 + brands * 21 + entries.length * (4 + 8 + 21));
    }),
    { numRuns: 100 },
  );
});

test('200 rewards take 23 bytes each at most, of one amount as of several, in one row as with others between them', () => {
  const bytesEach = (entries: PayoutEntry[]) => (encodePayoutBatch(entries).length / 2 - 1) / entries.length;
  const holders = Array.from({ length: 200 }, (_, index) => newHolder(index));
  const amounts = [5n, 10n, 1_000n, 2_000_000n];
  expect(bytesEach(holders.map((to, index) => entry({ sequence: BigInt(index), to })))).toBeLessThan(21.8);
  expect(
    bytesEach(
      holders.map((to, index) =>
        entry({
          sequence: BigInt(index * 3),
          to,
          amount: amounts[index % 4] ?? 0n,
          brandId: newHolder(index % 5),
        }),
      ),
    ),
  ).toBeLessThan(23);
});

test('a packed batch is as long as its groups', () => {
  const bytes = (entries: PayoutEntry[]) => unframed(encodePayoutBatch(entries)).length / 2;
  const fixed = 8 + 21;
  const of = (...sequences: number[]) => sequences.map((sequence) => entry({ sequence: BigInt(sequence) }));
  const row = (count: number) => of(...Array.from({ length: count }, (_, index) => index));
  // One group, of an amount of one byte.
  expect(bytes(of(7))).toBe(fixed + 5 + 21);
  expect(bytes(of(7, 8, 11, 267))).toBe(fixed + 5 + 4 * 21);
  // Too far, back, or the same again: another group.
  expect(bytes(of(7, 264))).toBe(fixed + 2 * (5 + 21));
  expect(bytes(of(8, 7))).toBe(fixed + 2 * (5 + 21));
  expect(bytes(of(7, 7))).toBe(fixed + 2 * (5 + 21));
  expect(bytes(row(255))).toBe(fixed + 5 + 255 * 21);
  expect(bytes(row(256))).toBe(fixed + 2 * 5 + 256 * 21);
  const ofAmount = (amount: bigint) => bytes([entry({ amount })]) - fixed - 4 - 21;
  expect([0n, 1n, 255n, 256n, 2n ** 40n - 1n, 2n ** 40n, MAX_UINT64].map(ofAmount)).toEqual([
    0, 1, 1, 2, 5, 6, 8,
  ]);
  // A brand says how many groups it has in a byte, and comes again for more.
  const groups = (count: number) => bytes(of(...Array.from({ length: count }, (_, index) => count - index)));
  expect(groups(255)).toBe(fixed + 255 * (5 + 21));
  expect(groups(256)).toBe(fixed + 21 + 256 * (5 + 21));
  expect(groups(511)).toBe(fixed + 2 * 21 + 511 * (5 + 21));
});

test('addresses in any case are the same brand', () => {
  const brandId: Hex = '0xABCDEF0123456789abcdef0123456789ABCDEF01';
  const entries = [entry({ brandId }), entry({ sequence: 2n, brandId: brandId.toLowerCase() as Hex })];
  expect(batchShape(entries)).toEqual({ count: 2, brands: 1, words: 1 });
  expect(decodePayoutBatch(encodePayoutBatch(entries)).map((each) => each.brandId)).toEqual([
    brandId.toLowerCase(),
    brandId.toLowerCase(),
  ]);
});

test.each<[string, string, PayoutEntry[]]>([
  ['no reward', 'at least one reward', []],
  [
    'a span of more than 65,536',
    'sequence 65536 is too far from 0',
    [entry({ sequence: 0n }), entry({ sequence: 65_536n })],
  ],
  ['a negative sequence', 'sequence -1 does not fit', [entry({ sequence: -1n })]],
  ['a sequence of 65 bits', 'does not fit 64 bits', [entry({ sequence: MAX_UINT64 + 1n })]],
  ['a negative amount', 'amount -1 does not fit 64 bits', [entry({ amount: -1n })]],
  [
    'an amount of 65 bits',
    `amount ${MAX_UINT64 + 1n} does not fit 64 bits`,
    [entry({ amount: MAX_UINT64 + 1n })],
  ],
  ['a short recipient', 'recipient 0x1234 is not an address', [entry({ to: '0x1234' })]],
  ['a recipient that is not hex', 'is not an address', [entry({ to: `0x${'g'.repeat(40)}` })]],
  ['a short brand', 'brand 0x1234 is not an address', [entry({ brandId: '0x1234' })]],
])('%s cannot be encoded', (_, why, entries) => {
  expect(() => encodePayoutBatch(entries)).toThrow(RangeError);
  expect(() => encodePayoutBatch(entries)).toThrow(why);
});

test('a batch has all rewards of a brand that its sequences allow', () => {
  const all = rewardsOfOneBrand(65_536);
  const sequences = decodePayoutBatch(encodePayoutBatch(all)).map(({ sequence }) => Number(sequence));
  expect(sequences.join()).toBe(Array.from({ length: 65_536 }, (_, index) => index).join());
});

test('the most that fits is encoded: sequences 65,535 apart, hex in lower case', () => {
  const to: Hex = `0x${'AB'.repeat(20)}`;
  const wide = encodePayoutBatch([entry({ to }), entry({ sequence: 65_536n })]);
  expect(wide).toMatch(/^0x[0-9a-f]+$/);
  expect(decodePayoutBatch(wide).map(({ sequence }) => sequence)).toEqual([1n, 65_536n]);
});

test('a length that says more than there is is not decoded', () => {
  const good = encodePayoutBatch([entry({})]);
  const head = 2 + 8 + 64;
  const longer = `${good.slice(0, head)}${(10_000).toString(16).padStart(64, '0')}${good.slice(head + 64)}`;
  expect(() => decodePayoutBatch(longer as Hex)).toThrow('not the calldata of a payout batch');
});

test('the largest sequence is encoded, and one more is told as such', () => {
  const [last] = decodePayoutBatch(encodePayoutBatch([entry({ sequence: MAX_UINT64 })]));
  expect(last?.sequence).toBe(MAX_UINT64);
  for (const sequence of [MAX_UINT64 + 1n, -1n])
    expect(() => encodePayoutBatch([entry({ sequence })])).toThrow(
      `sequence ${sequence} does not fit 64 bits`,
    );
});

test('calldata that was changed in its frame is not decoded', () => {
  const good = encodePayoutBatch([entry({}), entry({ sequence: 9n })]);
  const bad: Hex[] = [
    '0x',
    `0x00${good.slice(4)}`,
    `${good}00`,
    `0x${good.slice(2, -2)}`,
    `0xzz${good.slice(4)}`,
  ];
  for (const calldata of bad) expect(() => decodePayoutBatch(calldata)).toThrow(RangeError);
  expect(() => decodePayoutBatch(good.replace('000002', '000003') as Hex)).toThrow(RangeError);
});

test('as many rewards are taken as fit: count, span, gas', () => {
  const dense = Array.from({ length: 500 }, (_, index) => entry({ sequence: BigInt(1_000 + index) }));
  expect(fittingPayouts(dense, most(400))).toBe(400);
  expect(fittingPayouts([], most(400))).toBe(0);
  expect(
    fittingPayouts(
      [entry({ sequence: 70_000n }), entry({ sequence: 69_999n }), entry({ sequence: 1n })],
      most(400),
    ),
  ).toBe(2);
  const scattered = Array.from({ length: 500 }, (_, index) =>
    entry({ sequence: BigInt((index * 257) % 65_536) }),
  );
  const fitting = fittingPayouts(scattered, most(500));
  expect(fitting).toBeGreaterThan(300);
  expect(fitting).toBeLessThan(400);
  const of = (...sequences: bigint[]) => sequences.map((sequence) => entry({ sequence }));
  expect(fittingPayouts(of(0n, 65_535n), most(400))).toBe(2);
  expect(fittingPayouts(of(0n, 65_536n), most(400))).toBe(1);
  // The span is of all of them, not of the last two.
  expect(fittingPayouts(of(0n, 65_535n, 70_000n), most(400))).toBe(2);
  // No transaction may ask for more gas than the chain allows, whatever a node would take.
  expect(fittingPayouts(scattered, { countMax: 500, gasMax: MAX_BATCH_GAS * 10n })).toBe(fitting);
  expect(payoutGasLimit(2, 2, 1)).toBeGreaterThan(payoutGasLimit(2, 1, 1));
  // As much gas as two rewards take, and less than one takes.
  expect(fittingPayouts(dense, { countMax: 400, gasMax: payoutGasLimit(2, 1, 1) })).toBe(2);
  expect(fittingPayouts(dense, { countMax: 400, gasMax: 1n })).toBe(1);
});

function rewardsOfOneBrand(count: number): PayoutEntry[] {
  return Array.from({ length: count }, (_, index) => entry({ sequence: BigInt(index) }));
}

/** In order of the first of each kind. */
function grouped<T>(list: readonly T[], kindOf: (one: T) => unknown): T[][] {
  const kinds = [...new Set(list.map(kindOf))];
  return kinds.map((kind) => list.filter((one) => kindOf(one) === kind));
}

function entry(change: Partial<PayoutEntry>): PayoutEntry {
  return { sequence: 1n, brandId: newHolder(1), to: newHolder(2), amount: 3n, ...change };
}
