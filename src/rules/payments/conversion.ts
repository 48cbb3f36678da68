/** What a payment is worth: US cents, dollars as text, and RWT, in whole numbers throughout (contract: 1 USD = 1000 RWT). */

/** Contract: the conversion. */
const RWT_PER_USD = 1_000;
const CENTS_PER_USD = 100;
const RWT_PER_CENT = RWT_PER_USD / CENTS_PER_USD;

/** What the processor takes at least and at most for one payment in US dollars. */
export const PAYMENT_CENTS = { least: 50, most: 99_999_999 } as const;

/** Whole RWT for whole cents; a cent is 10 RWT, so nothing is ever rounded. */
export const rwtForCents = (cents: number): number => cents * RWT_PER_CENT;

/** Dollars as the service writes them: `25`, or `25.50` where cents are left. */
export function usdText(cents: number): string {
  const dollars = Math.floor(cents / CENTS_PER_USD);
  const rest = cents % CENTS_PER_USD;
  return rest === 0 ? String(dollars) : `${dollars}.${String(rest).padStart(2, '0')}`;
}

/**
 * Cents of a dollar amount that is spelt as the service spells it, or with both decimals of a whole dollar (`25.00`).
 * Undefined for anything else: signs, exponents, spaces, leading zeros, one decimal or three, separators, digits of
 * other scripts, nothing, zero, and more than a payment may have.
 */
export function centsOfUsd(text: string): number | undefined {
  const [, dollars, cents = '00'] = /^(0|[1-9][0-9]{0,6})(?:\.([0-9]{2}))?$/.exec(text) ?? [];
  if (dollars === undefined) return undefined;
  const total = Number(dollars) * CENTS_PER_USD + Number(cents);
  return total > 0 && total <= PAYMENT_CENTS.most ? total : undefined;
}

/** An amount of RWT in plain digits; undefined for every other spelling, for zero, and for more than a payment buys. */
export function rwtOfText(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) return undefined;
  const amount = Number(text);
  return amount <= rwtForCents(PAYMENT_CENTS.most) ? amount : undefined;
}
