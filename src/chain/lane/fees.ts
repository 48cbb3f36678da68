/** What a transaction offers for gas, and how much more its replacement must offer. */

export interface FeePolicy {
  /** The most that is ever offered for a unit of gas. */
  feeCapWei: bigint;
  /** Offered to the block's builder. */
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
