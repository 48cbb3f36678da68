/** The tables of perks: what each brand offers for RWT, and what the chain is to be told of it. Amounts are whole RWT. */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../../rules/brands/brand.ts';
import type { Constraint } from '../../../rules/constraint.ts';
import type { PerkCategory } from '../../../rules/perks/perk.ts';
import type { PerkTerms } from '../../../rules/perks/terms.ts';
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

/** What the contract is to be told of perks, in order. Written once; only the columns from `transactionId` on change. */
export const perkTerms = pgTable(
  'perk_terms',
  {
    tokenId: number('token_id').notNull(),
    /** 1 for a perk's first terms; each change has the next number. */
    position: integer('position').notNull(),
    perkId: text('perk_id').notNull(),
    brandId: address('brand_id').$type<BrandId>().notNull(),
    kind: text('kind').$type<PerkTerms['kind']>().notNull(),
    price: number('price').notNull(),
    active: bool('active').notNull(),
    /** set: how many are left to sell, -1 for no limit · stock: how many more, or fewer · terms: 0. */
    stock: number('stock').notNull(),
    createdAt: number('created_at').notNull(),
    transactionId: text('transaction_id'),
    /** Transactions that were to carry it and had no effect. */
    failedTries: integer('failed_tries').notNull(),
    /** Why it was given up: the contract refuses it. */
    failure: text('failure'),
    /** How often the chain refused it, as a trial showed; from `nextTryAt` on, by the ledger's clock, it is tried again. */
    refusals: integer('refusals').notNull().default(0),
    nextTryAt: number('next_try_at').notNull().default(0),
    /** What the chain said last. */
    refusal: text('refusal'),
  },
  (t) => [
    primaryKey({ columns: [t.tokenId, t.position] }),
    index('perk_terms_transaction').on(t.transactionId),
    index('perk_terms_waiting').on(t.tokenId).where(sql`transaction_id is null and failure is null`),
  ],
);
