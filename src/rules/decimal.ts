/** Amounts with a fraction, worked out in whole numbers, so that nothing is rounded before the end. */

/** A number without its fraction: 24.90 is 2490 hundredths. */
export interface Decimal {
  units: bigint;
  perUnit: bigint;
}

/** Larger than any order; beyond it a number's text has an exponent. */
const NUMBER_MAX = 1e15;

/** A number of 0 or more, or a plain decimal text such as "19.90". */
export function decimal(value: unknown): Decimal | undefined {
  const text = Number.isFinite(value) ? String(Math.min(Number(value), NUMBER_MAX)) : value;
  const [, whole, fraction = ''] =
    (typeof text === 'string' && /^(\d{1,20})(?:\.(\d{1,20}))?$/.exec(text.trim())) || [];
  if (whole === undefined) return undefined;
  return { units: BigInt(whole + fraction), perUnit: 10n ** BigInt(fraction.length) };
}

/** The most a single reward may ever come to, whatever multiplies it. */
export const REWARD_MAX = 1_000_000_000;

/** Whole RWT, rounded down: 10 times 1.1 is 11, and 100 times 1.15 is 115. */
export function multiplied(base: number, multiplier: number): number {
  const factor = decimal(multiplier);
  if (!factor) return Math.min(Math.floor(base * multiplier), REWARD_MAX);
  const amount = (BigInt(base) * factor.units) / factor.perUnit;
  return Math.min(Number(amount), REWARD_MAX);
}
