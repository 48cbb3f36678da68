/** What transactions offer for gas. */
import { expect, test } from 'vitest';
import { distinctFees, priceReplacement, priceTransaction } from '../../src/chain/lane/fees.ts';

const GWEI = 10n ** 9n;

test('a replacement never offers the builder more than it offers altogether', () => {
  const policy = { feeCapWei: 100n * GWEI, priorityFeeWei: 1n * GWEI };
  const offered = { maxFeePerGas: 80n * GWEI, maxPriorityFeePerGas: 80n * GWEI };
  const fees = priceReplacement({ ...offered, maxPriorityFeePerGas: 95n * GWEI }, 10n * GWEI, policy);
  expect(fees).toEqual({ maxFeePerGas: 90n * GWEI, maxPriorityFeePerGas: 90n * GWEI });
  expect(priceReplacement({ ...offered, maxFeePerGas: 90n * GWEI }, 10n * GWEI, policy)).toBeUndefined();
});

test('an offer that was made before differs by as little as can be', () => {
  const offer = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
    maxFeePerGas,
    maxPriorityFeePerGas,
  });
  const earlier = [offer(100n, 3n), offer(100n, 4n), offer(100n, 100n), offer(90n, 90n)];
  expect(distinctFees(offer(101n, 3n), earlier)).toEqual(offer(101n, 3n));
  expect(distinctFees(offer(100n, 3n), earlier)).toEqual(offer(100n, 5n));
  // The builder's share is never more than the whole.
  expect(distinctFees(offer(100n, 100n), earlier)).toEqual(offer(100n, 99n));
});

const policy = { feeCapWei: 100n, priorityFeeWei: 7n };
const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({ maxFeePerGas, maxPriorityFeePerGas });

test.each<[bigint, ReturnType<typeof fees> | undefined]>([
  [10n, fees(27n, 7n)],
  [46n, fees(99n, 7n)],
  [47n, fees(100n, 7n)],
  [100n, fees(100n, 7n)],
  [101n, undefined],
])('at a base fee of %d: twice that and the builder’s, up to the cap', (baseFeeWei, expected) => {
  expect(priceTransaction(baseFeeWei, policy)).toEqual(expected);
});

test('the builder is offered no more than the cap', () => {
  expect(priceTransaction(1n, { feeCapWei: 5n, priorityFeeWei: 7n })).toEqual(fees(5n, 5n));
});

test.each<[string, ReturnType<typeof fees>, bigint, ReturnType<typeof fees> | undefined]>([
  ['an eighth more, rounded up', fees(40n, 16n), 10n, fees(45n, 18n)],
  ['a wei above an eighth', fees(41n, 17n), 10n, fees(47n, 20n)],
  ['the present price where that is more', fees(40n, 3n), 30n, fees(67n, 7n)],
  ['the cap itself', fees(88n, 8n), 10n, fees(99n, 9n)],
  ['nothing above the cap', fees(89n, 8n), 10n, undefined],
  ['nothing while gas is above the cap', fees(40n, 8n), 101n, undefined],
])('a replacement offers %s', (_, offered, baseFeeWei, expected) => {
  expect(priceReplacement(offered, baseFeeWei, policy)).toEqual(expected);
});
