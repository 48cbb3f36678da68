/**
 * The tables of perks: what each brand offers for RWT, what the chain is to be told of it, and who redeemed what.
 * Amounts are whole RWT.
 */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../../rules/brands/brand.ts';
import type { Constraint } from '../../../rules/constraint.ts';
import type { KeptConsent } from '../../../rules/perks/consent.ts';
import type { PerkCategory, PerkTerms } from '../../../rules/perks/perk.ts';
import { address, bool, bytes, number } from '../columns.ts';

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

// The table of redemptions: perks that users take for RWT, each debited once on chain. Amounts are whole RWT.

/** Above the number of any block: a redemption that no final block shows. */
const NOT_SHOWN = Number.MAX_SAFE_INTEGER;

/** A user's permit to the escrow; `value` and `deadlineSeconds` in decimal digits. */
export interface KeptPermit {
  value: string;
  deadlineSeconds: string;
  v: number;
  r: `0x${string}`;
  s: `0x${string}`;
}

/** Written once, before anything is sent; only the columns from `transactionId` on change later. */
export const redemptions = pgTable(
  'redemptions',
  {
    /** A UUID, lower case. */
    id: text('id').primaryKey(),
    /** The key under which the chain redeems once: keccak256 of the id. */
    key: bytes('key').notNull(),
    brandId: address('brand_id').$type<BrandId>().notNull(),
    perkId: text('perk_id').notNull(),
    tokenId: number('token_id').notNull(),
    userKey: text('user_key').notNull(),
    /** Null where the user is known by an address alone. */
    userEmail: text('user_email'),
    /** Whose RWT is collected, and who gets the perk; lower case. */
    wallet: address('wallet').notNull(),
    /** The price when it was asked for; the chain collects no more. */
    cost: number('cost').notNull(),
    /** What the user shows and the brand checks. Valid once a block shows the redemption. */
    confirmationCode: text('confirmation_code').notNull(),
    createdAt: number('created_at').notNull(),
    transactionId: text('transaction_id'),
    /** Why it came to nothing. */
    failure: text('failure'),
    /** When its block was final: from then on it no longer changes. */
    settledAt: number('settled_at'),
    /** When the brand marked the code as used. */
    usedAt: number('used_at'),
    /** The block from which on the chain itself shows what it took, once that is final. */
    shownFrom: number('shown_from').notNull().default(NOT_SHOWN),
    /** On whose word it is paid. */
    consent: text('consent').$type<KeptConsent>().notNull().default('unasked'),
    /** The user's own, to the escrow, where it pays. */
    permit: jsonb('permit').$type<KeptPermit>(),
    /** The signature of that permit, which pays one redemption. */
    permitId: bytes('permit_id'),
    /** When it was admitted, by the ledger's clock. */
    waitingSince: number('waiting_since').notNull().default(0),
    /** How often the chain refused it, as a trial showed; from `nextTryAt` on, by the ledger's clock, it is tried again. */
    refusals: integer('refusals').notNull().default(0),
    nextTryAt: number('next_try_at').notNull().default(0),
    /** What the chain said last. */
    refusal: text('refusal'),
  },
  (t) => [
    uniqueIndex('redemptions_key').on(t.key),
    uniqueIndex('redemptions_code').on(t.confirmationCode),
    index('redemptions_transaction').on(t.transactionId),
    index('redemptions_brand').on(t.brandId, t.createdAt),
    index('redemptions_user').on(t.userKey, t.brandId),
    index('redemptions_waiting').on(t.createdAt).where(sql`transaction_id is null and failure is null`),
    uniqueIndex('redemptions_permit').on(t.permitId).where(sql`permit_id is not null and failure is null`),
    index('redemptions_of_wallet').on(t.wallet, t.shownFrom).where(sql`failure is null`),
    index('redemptions_of_token').on(t.tokenId, t.shownFrom).where(sql`failure is null`),
  ],
);

/** One row a wallet that redeems: locked while a redemption of it is admitted, so that two are never admitted at once. */
export const redeemers = pgTable('redeemers', {
  wallet: address('wallet').primaryKey(),
  redemptions: number('redemptions').notNull(),
});
