/** The encoding of payout batches: round trips, ranges, and the sums on chain after random batches. */

import fc from 'fast-check';
import { decodeFunctionData, type Hex } from 'viem';
import { expect, test } from 'vitest';
import { businessEscrowAbi } from '../../src/chain/contracts/abis.ts';
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

test('decoding gives back what was encoded, grouped by brand in a stable order', () => {
  fc.assert(
    fc.property(batches, (entries) => {
      const brands = [...new Set(entries.map(({ brandId }) => brandId))];
      const grouped = brands.flatMap((brand) => entries.filter(({ brandId }) => brandId === brand));
      expect(decodePayoutBatch(encodePayoutBatch(entries))).toEqual(grouped);
    }),
    { numRuns: 300 },
  );
});

test('the calldata is what the ABI says', () => {
  fc.assert(
    fc.property(batches, (entries) => {
      const { functionName, args } = decodeFunctionData({
        abi: businessEscrowAbi,
        data: encodePayoutBatch(entries),
      });
      expect(functionName).toBe('distribute');
      const [batch] = args as readonly [Hex];
      const groups = new Set(entries.map(({ brandId }) => brandId)).size;
      expect(batch.length / 2 - 1).toBe(8 + groups * 22 + entries.length * 30);
    }),
    { numRuns: 100 },
  );
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
  ['more of one brand than its count can say', 'has more than 65535 rewards', rewardsOfOneBrand(65_536)],
])('%s cannot be encoded', (_, why, entries) => {
  expect(() => encodePayoutBatch(entries)).toThrow(RangeError);
  expect(() => encodePayoutBatch(entries)).toThrow(why);
});

test('the most that fits is encoded: 65,535 rewards of a brand, sequences 65,535 apart, hex in lower case', () => {
  const many = encodePayoutBatch(rewardsOfOneBrand(65_535));
  expect(many.length).toBeGreaterThan(65_535 * 60);
  const to: Hex = `0x${'AB'.repeat(20)}`;
  const wide = encodePayoutBatch([entry({ to }), entry({ sequence: 65_536n })]);
  expect(wide).toMatch(/^0x[0-9a-f]+$/);
  expect(decodePayoutBatch(wide).map(({ sequence }) => sequence)).toEqual([1n, 65_536n]);
});

test.each([
  ['no group at all', 'malformed', (base: string) => base],
  ['a group of nobody', 'malformed', (base: string, brand: string) => `${base}${brand}0000`],
  [
    'a group of nobody after a good one',
    'malformed',
    (base: string, brand: string, one: string) => `${base}${brand}0001${one}${brand}0000`,
  ],
  [
    'fewer rewards than it counts',
    'malformed',
    (base: string, brand: string, one: string) => `${base}${brand}0002${one}`,
  ],
  [
    'a header that is cut short',
    'malformed',
    (base: string, brand: string, one: string) => `${base}${brand}0001${one}${brand.slice(20)}`,
  ],
  [
    'digits that are not hex',
    'not the calldata',
    (base: string, brand: string, one: string) => `${base}${brand}0001zz${one.slice(2)}`,
  ],
])('a batch with %s is not decoded', (_, why, make) => {
  const batch = make('0'.repeat(16), 'ab'.repeat(20), `0000${'cd'.repeat(20)}${'3'.padStart(16, '0')}`);
  const length = (batch.length / 2).toString(16).padStart(64, '0');
  const padding = '0'.repeat((64 - (batch.length % 64)) % 64);
  const frame = encodePayoutBatch([entry({})]).slice(0, 2 + 8 + 64);
  const calldata = `${frame}${length}${batch}${padding}` as Hex;
  expect(() => decodePayoutBatch(calldata)).toThrow(RangeError);
  expect(() => decodePayoutBatch(calldata)).toThrow(why);
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
  expect(() => decodePayoutBatch(good.replace('0002', '0003') as Hex)).toThrow(RangeError);
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

test('encodes 400 rewards in a few milliseconds', () => {
  const entries = Array.from({ length: 400 }, (_, index) =>
    entry({ sequence: BigInt(index), to: newHolder(index) }),
  );
  encodePayoutBatch(entries);
  const rounds = Array.from({ length: 20 }, () => {
    const started = performance.now();
    encodePayoutBatch(entries);
    return performance.now() - started;
  });
  // The best of them: the others were interrupted.
  const msEach = Math.min(...rounds);
  console.log(`encoding a batch of 400 rewards takes ${msEach.toFixed(2)} ms`);
  expect(msEach).toBeLessThan(10);
});

function rewardsOfOneBrand(count: number): PayoutEntry[] {
  return Array.from({ length: count }, (_, index) => entry({ sequence: BigInt(index) }));
}

function entry(change: Partial<PayoutEntry>): PayoutEntry {
  return { sequence: 1n, brandId: newHolder(1), to: newHolder(2), amount: 3n, ...change };
}
