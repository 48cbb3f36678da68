/** What a perk is, and how many of it can be had. */
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
