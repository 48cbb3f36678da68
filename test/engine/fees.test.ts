/** What transactions offer for gas. */
import { expect, test } from 'vitest';
import { priceReplacement } from '../../src/chain/lane/fees.ts';

const GWEI = 10n ** 9n;

test('a replacement never offers the builder more than it offers altogether', () => {
  const policy = { feeCapWei: 100n * GWEI, priorityFeeWei: 1n * GWEI };
  const offered = { maxFeePerGas: 80n * GWEI, maxPriorityFeePerGas: 80n * GWEI };
  const fees = priceReplacement({ ...offered, maxPriorityFeePerGas: 95n * GWEI }, 10n * GWEI, policy);
  expect(fees).toEqual({ maxFeePerGas: 90n * GWEI, maxPriorityFeePerGas: 90n * GWEI });
  expect(priceReplacement({ ...offered, maxFeePerGas: 90n * GWEI }, 10n * GWEI, policy)).toBeUndefined();
});
