/** Payout batches on chain: each sequence at most once, bad rewards skipped. */
import { type Hex, parseEventLogs, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type PayoutEntry, skipReasons } from '../../src/chain/contracts/payout-batch.ts';
import { type Kit, newHolder, people, startKit } from './kit.ts';

const { brand, otherBrand } = people;

let kit: Kit;
beforeAll(async () => {
  kit = await startKit();
});
beforeEach(async () => {
  await kit.reset();
  await kit.fund(brand.address, 1_000n);
});
afterAll(() => kit?.anvil.stop());

describe('a batch', () => {
  test('pays rewards of several brands and reports one batch', async () => {
    await kit.fund(otherBrand.address, 50n);
    const entries = [
      reward(7, { to: newHolder(1), amount: 10n }),
      reward(5, { to: newHolder(2), amount: 20n, brandId: otherBrand.address }),
      reward(9, { to: newHolder(1), amount: 30n }),
    ];
    const { distributed, skipped, logs } = await distribute(entries);
    expect(distributed).toEqual({ base: 5n, count: 3n, total: 60n });
    expect(skipped).toEqual([]);
    expect(logs.length).toBe(4);
    expect(await holdings(newHolder(1), newHolder(2))).toEqual([40n, 20n]);
    expect(await brandBalances()).toEqual([960n, 30n]);
    expect(await paidOf(4, 5, 6, 7, 8, 9)).toEqual([false, true, false, true, false, true]);
  });

  test('marks sequences on both sides of word borders, in any order, up to the end of the span', async () => {
    const base = 3 * 256 - 2;
    const sequences = [base + 65_535, base + 3, base, base + 2, base + 1, base + 258, base + 257];
    const { distributed } = await distribute(sequences.map((sequence) => reward(sequence, { amount: 1n })));
    expect(distributed).toEqual({ base: BigInt(base), count: 7n, total: 7n });
    expect(await paidOf(...sequences)).toEqual(sequences.map(() => true));
    expect(await kit.escrow.read.paidWord([2n])).toBe((1n << 254n) | (1n << 255n));
    expect(await kit.escrow.read.paidWord([3n])).toBe(0b11n | (1n << 255n));
    expect(await kit.escrow.read.paidWord([4n])).toBe(1n);
    expect(await paidOf(base - 1, base + 4, base + 256, base + 259, base + 65_534)).toEqual(
      Array(5).fill(false),
    );
  });

  test('the highest sequences of 64 bits, and beyond their word, can be paid', async () => {
    const top = 2n ** 64n - 1n;
    await distribute([reward(0), { ...reward(0), sequence: 1n }]);
    await distribute([
      { ...reward(0), sequence: top },
      { ...reward(0), sequence: top - 65_535n },
    ]);
    expect(await kit.escrow.read.isPaid([top])).toBe(true);
  });

  test('a batch sent again pays nothing twice', async () => {
    const entries = Array.from({ length: 20 }, (_, index) => reward(250 + index, { to: newHolder(index) }));
    await distribute(entries);
    const before = await brandBalances();
    const { distributed, skipped, logs } = await distribute(entries);
    expect(distributed).toEqual({ base: 250n, count: 0n, total: 0n });
    expect(skipped).toEqual(entries.map(({ sequence }) => [sequence, 'already_paid']));
    expect(logs.length).toBe(21);
    expect(await brandBalances()).toEqual(before);
    expect(await holdings(newHolder(0), newHolder(19))).toEqual([10n, 10n]);
  });

  test('a used sequence is skipped, also within its own batch and for another brand; the neighbours are paid', async () => {
    await kit.fund(otherBrand.address, 50n);
    await distribute([reward(2)]);
    const { skipped, distributed } = await distribute([
      reward(1),
      reward(2, { to: newHolder(5) }),
      reward(3),
      reward(3, { to: newHolder(6) }),
      reward(1, { brandId: otherBrand.address, to: newHolder(7) }),
      reward(4, { brandId: otherBrand.address }),
    ]);
    expect(distributed).toMatchObject({ count: 3n, total: 30n });
    expect(skipped).toEqual([
      [2n, 'already_paid'],
      [3n, 'already_paid'],
      [1n, 'already_paid'],
    ]);
    expect(await holdings(newHolder(5), newHolder(6), newHolder(7))).toEqual([0n, 0n, 0n]);
    expect(await brandBalances()).toEqual([970n, 40n]);
  });

  test.each<[string, Partial<PayoutEntry>]>([
    ['zero_address', { to: zeroAddress }],
    ['zero_amount', { amount: 0n }],
    ['insufficient_brand_balance', { amount: 991n }],
    ['insufficient_brand_balance', { amount: 2n ** 64n - 1n }],
    ['insufficient_brand_balance', { brandId: people.stranger.address }],
  ])('%s poisons its own reward only, and its sequence stays free', async (reason, poison) => {
    await expectPoison(reason, poison);
  });

  test('the token and the escrow as recipients poison their own reward only', async () => {
    await expectPoison('forbidden_recipient', { to: kit.token.address });
    await kit.reset();
    await kit.fund(brand.address, 1_000n);
    await expectPoison('forbidden_recipient', { to: kit.escrow.address });
  });

  test('a brand’s last RWT is paid, and the rewards it can no longer pay are skipped', async () => {
    const { skipped } = await distribute([
      reward(1, { amount: 600n }),
      reward(2, { amount: 500n }),
      reward(3, { amount: 400n }),
      reward(4, { amount: 1n }),
    ]);
    expect(skipped).toEqual([
      [2n, 'insufficient_brand_balance'],
      [4n, 'insufficient_brand_balance'],
    ]);
    expect(await brandBalances()).toEqual([0n, 0n]);
  });
});

function reward(sequence: number, change: Partial<PayoutEntry> = {}): PayoutEntry {
  return { sequence: BigInt(sequence), brandId: brand.address, to: newHolder(0), amount: 10n, ...change };
}

async function distribute(entries: readonly PayoutEntry[]) {
  const { logs } = await kit.distribute(entries);
  const events = parseEventLogs({ abi: kit.escrow.abi, logs });
  const skipped = events.flatMap((event) =>
    event.eventName === 'RewardSkipped'
      ? [[event.args.sequence, reasonName(event.args.reason)] as const]
      : [],
  );
  const distributed = events.find((event) => event.eventName === 'Distributed')?.args;
  return { distributed, skipped, logs };
}

function reasonName(reason: number): string | undefined {
  return new Map(Object.entries(skipReasons)).get(String(reason));
}

async function expectPoison(reason: string, poison: Partial<PayoutEntry>) {
  const entries = [reward(1), reward(2, { to: newHolder(9), ...poison }), reward(3)];
  const { skipped, distributed } = await distribute(entries);
  expect(skipped).toEqual([[2n, reason]]);
  expect(distributed).toMatchObject({ count: 2n, total: 20n });
  expect(await paidOf(1, 2, 3)).toEqual([true, false, true]);
  await distribute([reward(2, { to: newHolder(9) })]);
  expect(await holdings(newHolder(9), newHolder(0))).toEqual([10n, 20n]);
}

function paidOf(...sequences: number[]) {
  return Promise.all(sequences.map((sequence) => kit.escrow.read.isPaid([BigInt(sequence)])));
}

function holdings(...holders: Hex[]) {
  return Promise.all(holders.map((holder) => kit.token.read.balanceOf([holder])));
}

function brandBalances() {
  return Promise.all([brand, otherBrand].map(({ address }) => kit.escrow.read.balanceOf([address])));
}
