/** What a perk is. */

export const PERK_CATEGORIES = ['digital', 'physical', 'exclusive'] as const;
export type PerkCategory = (typeof PERK_CATEGORIES)[number];
