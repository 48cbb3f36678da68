/** The table of perks: what each brand offers for RWT. Amounts are whole RWT. */
import { index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../../rules/brands/brand.ts';
import type { Constraint } from '../../../rules/constraints/constraint.ts';
import type { PerkCategory } from '../../../rules/perks/perk.ts';
import { address, bool, number } from '../columns.ts';

export const perks = pgTable(
  'perks',
  {
    /** A UUID, lower case. */
    id: text('id').primaryKey(),
    brandId: address('brand_id').$type<BrandId>().notNull(),
    /** The perk on chain: its id in the ERC-1155 contract. */
    tokenId: number('token_id').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull(),
    category: text('category').$type<PerkCategory>().notNull(),
    cost: number('cost').notNull(),
    /** How many are offered in all, those that are sold included; -1: no limit. */
    stock: number('stock').notNull(),
    /** The URL of a picture. */
    image: text('image'),
    /** The brand's own, shown to everybody. */
    metadata: jsonb('metadata').$type<Record<string, unknown>>().notNull(),
    /** Off: nobody can buy or redeem it. */
    active: bool('active').notNull(),
    /** What a buyer must fulfil, all of it. */
    constraints: jsonb('constraints').$type<readonly Constraint[]>().notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [uniqueIndex('perks_token').on(t.tokenId), index('perks_brand').on(t.brandId, t.tokenId)],
);
