/** What a transaction offers for gas, and how much more its replacement must offer. */

export interface FeePolicy {
  /** The most that is ever offered for a unit of gas. */
  feeCapWei: bigint;
  /** BroadcastResult to the block's builder. */
  priorityFeeWei: bigint;
}

export interface Fees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);

/** Twice the base fee, so that six full blocks in a row cannot price it out; undefined while even the base fee is over the cap. */
export function priceTransaction(baseFeeWei: bigint, policy: FeePolicy): Fees | undefined {
  const { feeCapWei, priorityFeeWei } = policy;
  if (baseFeeWei > feeCapWei) return undefined;
  const maxFeePerGas = smaller(baseFeeWei * 2n + priorityFeeWei, feeCapWei);
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(priorityFeeWei, maxFeePerGas) };
}

/** An eighth more, rounded up: the strictest rule among nodes for a replacement; geth asks for a tenth. */
const replacementOf = (wei: bigint) => wei + (wei + 7n) / 8n;

/**
 * These fees, or fees a wei or so away when an earlier attempt at the same nonce has offered the very same: it would be
 * the same bytes once more. Prices that fall and rise again meet, at the cap above all.
 */
export function distinctFees(fees: Fees, earlier: readonly Fees[]): Fees {
  const isEarlier = (one: Fees) =>
    earlier.some(
      ({ maxFeePerGas, maxPriorityFeePerGas }) =>
        maxFeePerGas === one.maxFeePerGas && maxPriorityFeePerGas === one.maxPriorityFeePerGas,
    );
  const room = fees.maxFeePerGas - fees.maxPriorityFeePerGas;
  // The builder's share moves: up as far as the whole allows, and else down.
  const step = room >= BigInt(earlier.length) ? 1n : -1n;
  let one = fees;
  while (isEarlier(one)) one = { ...one, maxPriorityFeePerGas: one.maxPriorityFeePerGas + step };
  return one;
}

/** What a replacement offers: an eighth more at least, and the present price. Undefined when the cap forbids it. */
export function priceReplacement(offered: Fees, baseFeeWei: bigint, policy: FeePolicy): Fees | undefined {
  const now = priceTransaction(baseFeeWei, policy);
  const maxFeePerGas = larger(replacementOf(offered.maxFeePerGas), now?.maxFeePerGas ?? 0n);
  const maxPriorityFeePerGas = larger(
    replacementOf(offered.maxPriorityFeePerGas),
    now?.maxPriorityFeePerGas ?? 0n,
  );
  if (!now || maxFeePerGas > policy.feeCapWei) return undefined;
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(maxPriorityFeePerGas, maxFeePerGas) };
}
