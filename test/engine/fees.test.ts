/** What transactions offer for gas. */
import { expect, test } from 'vitest';
import { distinctFees, priceReplacement } from '../../src/chain/lane/fees.ts';

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
