/** What a perk is, how many of it can be had, and what the contract has to be told of it. */
import { isUnlimited } from '../brands/brand.ts';

export const PERK_CATEGORIES = ['digital', 'physical', 'exclusive'] as const;
export type PerkCategory = (typeof PERK_CATEGORIES)[number];

/** What clients read where nothing limits a perk: they expect a number above 0, never null or -1. */
export const AVAILABLE_UNLIMITED = 999_999;

/** How many can be had when `left` are left to sell (-1: no limit). */
export function availableOf({ active, left }: { active: boolean; left: number }): number {
  if (!active) return 0;
  return isUnlimited(left) ? AVAILABLE_UNLIMITED : Math.max(left, 0);
}

// What the contract has to be told when a perk is added or changed.

/** The part of a perk that the contract knows; -1 is a stock without limit. */
interface PerkOnSale {
  cost: number;
  stock: number;
  active: boolean;
}

/** One call of the contract. `price` and `active` are the perk's from then on. */
export interface PerkTerms {
  /**
   * set: everything, the number that is left to sell included · terms: price and whether it is on sale · stock: more or
   * fewer are left than before, whatever is sold meanwhile.
   */
  kind: 'set' | 'terms' | 'stock';
  price: number;
  active: boolean;
  /** set: how many are left, -1 for no limit · stock: how many more, or fewer · terms: 0. */
  stock: number;
}

/**
 * The calls that make a perk what it is now, in their order. A stock is only ever added to, or taken from: a number that
 * was right when it was read would sell again what is sold before it arrives. Between a limit and none, nothing is counted.
 */
export function changedTerms(before: PerkOnSale | undefined, after: PerkOnSale): PerkTerms[] {
  const { cost: price, active, stock } = after;
  if (!before || isUnlimited(before.stock) !== isUnlimited(stock))
    return [{ kind: 'set', price, active, stock }];
  const terms = before.cost !== price || before.active !== active;
  const more = isUnlimited(stock) ? 0 : stock - before.stock;
  return [
    ...(terms ? [{ kind: 'terms' as const, price, active, stock: 0 }] : []),
    ...(more !== 0 ? [{ kind: 'stock' as const, price, active, stock: more }] : []),
  ];
}
