/** The bytes of payout batches: what is malformed is refused as a whole, and the escrow pays just what the decoder reads. */
import fc from 'fast-check';
import { concat, encodeFunctionData, type Hex, numberToHex, parseEventLogs } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { unframed } from '../../src/chain/contracts/packed-batch.ts';
import {
  decodePayoutBatch,
  encodePayoutBatch,
  type PayoutEntry,
  skipReasons,
} from '../../src/chain/contracts/payout-batch.ts';
import { expectRevert, type Kit, newHolder, people, startKit } from './kit.ts';

const { brand, distributor, otherBrand } = people;

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(async () => {
  await kit.reset();
  await kit.fund(brand.address, 1_000n);
});
afterAll(() => kit?.anvil.stop());

const base = numberToHex(0, { size: 8 });
const byte = (value: number) => numberToHex(value, { size: 1 });
const recipient = newHolder(0);

/** What a group says of itself; by default what is true. */
interface GroupFields {
  first?: number;
  count?: number;
  amount?: Hex;
  length?: number;
}

describe('a packed batch', () => {
  const entry = (between = 0) => concat([byte(between), recipient]);
  const group = (
    entries: readonly Hex[],
    { first = 1, count = entries.length, amount = '0x0a', length }: GroupFields = {},
  ) =>
    concat([
      numberToHex(first, { size: 2 }),
      byte(count),
      byte(length ?? (amount.length - 2) / 2),
      amount,
      ...entries,
    ]);
  const of = (groups: readonly Hex[], count = groups.length) =>
    concat([brand.address, byte(count), ...groups]);
  const pay = (batch: Hex) => kit.escrow.write.distributePacked([batch], kit.by(distributor));

  const good = concat([base, of([group([entry()])])]);
  test.each<[string, Hex]>([
    ['nothing', '0x'],
    ['no brand', base],
    ['a brand without groups', concat([base, of([])])],
    ['a brand without groups behind a good one', concat([good, of([])])],
    ['a brand that says it has no groups', concat([base, of([group([entry()])], 0)])],
    ['a brand with fewer groups than it says', concat([base, of([group([entry()])], 2)])],
    ['a group of nobody', concat([base, of([group([])])])],
    ['a group of nobody as long as a good one', concat([base, of([group([entry()], { count: 0 })])])],
    ['a group of nobody behind a good one', concat([base, of([group([entry()]), group([])])])],
    ['fewer rewards than the group says', concat([base, of([group([entry()], { count: 2 })])])],
    ['fewer rewards than the last group says', concat([good, of([group([entry()], { count: 255 })])])],
    ['an amount of nine bytes', concat([base, of([group([entry()], { amount: `0x${'00'.repeat(8)}0a` })])])],
    ['an amount of 255 bytes', concat([base, of([group([entry()], { length: 255 })])])],
    ['an amount longer than it says', concat([base, of([group([entry()], { length: 2 })])])],
    ['an amount that swallows its rewards', concat([good, of([group([], { count: 1, length: 8 })])])],
    ['a byte left over', concat([good, '0x00'])],
    ['a brand cut short', concat([good, brand.address])],
    ['a brand and nothing', concat([good, brand.address, '0x01'])],
    ['a group cut short', concat([good, brand.address, '0x01', '0x000101'])],
    ['a last recipient cut short', `0x${good.slice(2, -2)}`],
    [
      'a last recipient cut short behind a good one',
      `0x${concat([good, of([group([entry()])])]).slice(2, -2)}`,
    ],
  ])('with %s is refused as a whole', async (_, batch) => {
    await expectRevert(pay(batch), 'MalformedBatch');
    expect(() => decodePayoutBatch(framed(batch))).toThrow(RangeError);
    expect(await kit.escrow.read.isPaid([1n])).toBe(false);
  });

  test('is paid as it is, with every length of amount and every step', async () => {
    const amounts = Array.from(
      { length: 9 },
      (_, bytes): Hex => `0x${'00'.repeat(Math.max(0, bytes - 1))}${bytes > 0 ? '07' : ''}`,
    );
    const groups = amounts.map((amount, place) =>
      group([entry(place), entry(255)], { first: place * 600, amount }),
    );
    const batch = concat([base, of(groups), of([group([entry()], { first: 65_535 })])]);
    expect(await whatIsPaid(batch)).toEqual(whatIsRead(batch));
    const paid = amounts.slice(1).flatMap((_, index) => {
      const place = index + 1;
      return [place * 601, place * 601 + 256];
    });
    for (const sequence of [...paid, 65_535])
      expect(await kit.escrow.read.isPaid([BigInt(sequence)])).toBe(true);
    expect(await kit.escrow.read.isPaid([0n])).toBe(false);
    expect(await kit.escrow.read.balanceOf([brand.address])).toBe(1_000n - 16n * 7n - 10n);
  });

  test('pays 255 rewards in a group, and goes on behind the last sequence of 64 bits without coming round', async () => {
    const top = numberToHex(2n ** 64n - 1n, { size: 8 });
    const batch = concat([
      top,
      of([
        group(
          Array.from({ length: 255 }, () => entry()),
          { amount: '0x01', first: 0 },
        ),
      ]),
    ]);
    expect(await whatIsPaid(batch)).toEqual(whatIsRead(batch));
    expect(await kit.escrow.read.isPaid([2n ** 64n + 253n])).toBe(true);
    expect(await kit.escrow.read.isPaid([0n])).toBe(false);
  });

  test('may name the same brand again', async () => {
    await kit.mined(pay(concat([good, of([group([entry()], { first: 2 })])])));
    expect(await kit.escrow.read.balanceOf([brand.address])).toBe(980n);
  });
});

const rewards = fc.array(
  fc.record({
    sequence: fc.oneof(fc.bigInt({ min: 0n, max: 12n }), fc.bigInt({ min: 0n, max: 65_535n })),
    brandId: fc.constantFrom(brand.address, otherBrand.address),
    to: fc.nat(3).map((index) => newHolder(index)),
    amount: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.constantFrom(700n, 2n ** 64n - 1n)),
  }),
  { minLength: 1, maxLength: 12 },
);
/** A change of one byte, bytes left out, or bytes put in. */
const damage = fc.option(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    out: fc.nat(3),
    put: fc.uint8Array({ maxLength: 3 }),
  }),
  { freq: 3 },
);

test('a batch with changed bytes is paid as it is read, or neither paid nor read', async () => {
  const seen = { paid: 0, refused: 0 };
  await kit.fund(otherBrand.address, 50n);
  let funded = await kit.rpc('evm_snapshot', []);
  await fc.assert(
    fc.asyncProperty(rewards, damage, async (entries, harm) => {
      await kit.rpc('evm_revert', [funded]);
      funded = await kit.rpc('evm_snapshot', []);
      const whole = Buffer.from(unframed(encodePayoutBatch(entries)), 'hex');
      // Mostly near the front, where the headers are.
      const at = Math.floor((harm?.at ?? 0) ** 3 * whole.length);
      const bytes = Buffer.concat([
        whole.subarray(0, at),
        harm?.put ?? Buffer.alloc(0),
        whole.subarray(at + (harm?.out ?? 0)),
      ]);
      const batch: Hex = `0x${bytes.toString('hex')}`;
      const paid = await whatIsPaid(batch);
      expect(paid).toEqual(whatIsRead(batch));
      seen[paid === 'refused' ? 'refused' : 'paid'] += 1;
    }),
    { numRuns: 80 },
  );
  expect(seen.paid).toBeGreaterThan(10);
  expect(seen.refused).toBeGreaterThan(10);
}, 120_000);

const framed = (batch: Hex): Hex =>
  encodeFunctionData({ abi: kit.escrow.abi, functionName: 'distributePacked', args: [batch] });

/** Transfers and skipped rewards, each in the order of the chain. */
async function whatIsPaid(batch: Hex) {
  const call = { account: distributor, to: kit.escrow.address, data: framed(batch) };
  const isTaken = await kit.publicClient.call(call).then(
    () => true,
    () => false,
  );
  if (!isTaken) return 'refused';
  const { logs } = await kit.mined(kit.wallet.sendTransaction({ ...call, gas: 10_000_000n }));
  const skipped = parseEventLogs({ abi: kit.escrow.abi, logs, eventName: 'RewardSkipped' });
  const transfers = parseEventLogs({ abi: kit.token.abi, logs, eventName: 'Transfer' });
  return {
    paid: transfers.map(({ args }) => [args.to.toLowerCase(), args.value]),
    skipped: skipped.map(({ args }) => [args.sequence, args.reason]),
  };
}

/** What the decoder says that it pays, where brand and other brand have 1,000 and 50 RWT at most. */
function whatIsRead(batch: Hex) {
  let entries: readonly PayoutEntry[];
  try {
    entries = decodePayoutBatch(framed(batch));
  } catch {
    return 'refused';
  }
  const balances = new Map<string, bigint>([
    [brand.address.toLowerCase(), 1_000n],
    [otherBrand.address.toLowerCase(), 50n],
  ]);
  const reasons = new Map(Object.entries(skipReasons).map(([code, name]) => [name, Number(code)]));
  const taken = new Set<bigint>();
  const paid: [string, bigint][] = [];
  const skipped: [bigint, number | undefined][] = [];
  for (const { sequence, brandId, to, amount } of entries) {
    const balance = balances.get(brandId) ?? 0n;
    const reason = taken.has(sequence)
      ? 'already_paid'
      : BigInt(to) === 0n
        ? 'zero_address'
        : amount === 0n
          ? 'zero_amount'
          : amount > balance
            ? 'insufficient_brand_balance'
            : undefined;
    if (reason) {
      skipped.push([sequence, reasons.get(reason)]);
      continue;
    }
    taken.add(sequence);
    balances.set(brandId, balance - amount);
    paid.push([to, amount]);
  }
  return { paid, skipped };
}
