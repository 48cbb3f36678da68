/** The tables of brands: their settings, domains, keys and event rules. */
import { sql } from 'drizzle-orm';
import { integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandProfile, EventDetail } from '../../rules/brands/brand.ts';
import { address, bool, number } from './columns.ts';

export const brands = pgTable('brands', {
  brandId: address('brand_id').primaryKey(),
  name: text('name').notNull(),
  automation: bool('automation').notNull(),
  profile: jsonb('profile').$type<BrandProfile>().notNull(),
  /** The secret that a brand's DNS tokens are derived from; it grants no access by itself. */
  verificationSecret: text('verification_secret').notNull(),
  createdAt: number('created_at').notNull(),
  /** How often its users' aliases were changed; 0: it has none, so nobody looks for them. */
  aliases: number('aliases').notNull().default(0),
});

/** Every domain of every brand, so that an Origin can be looked up without knowing its brand. */
export const brandDomains = pgTable(
  'brand_domains',
  {
    domain: text('domain').notNull(),
    brandId: address('brand_id').notNull(),
    /** configured: written by the brand · dns: proven by a TXT record. */
    source: text('source').$type<'configured' | 'dns'>().notNull(),
    /** dns: how often the record was missing since it was last found, and when a miss last counted (ms). */
    misses: integer('misses').notNull().default(0),
    missedAt: number('missed_at'),
  },
  (t) => [
    primaryKey({ columns: [t.domain, t.brandId] }),
    uniqueIndex('brand_domains_configured').on(t.domain).where(sql`source = 'configured'`),
  ],
);

/** Keys of brands: only digests, so that a reader of this table cannot use a key. */
export const brandKeys = pgTable('brand_keys', {
  keyId: text('key_id').primaryKey(),
  brandId: address('brand_id').notNull(),
  digest: text('digest').notNull(),
  createdAt: number('created_at').notNull(),
  /** Null: until it is rotated. */
  expiresAt: number('expires_at'),
});

export const eventRules = pgTable(
  'event_rules',
  {
    brandId: address('brand_id').notNull(),
    eventType: text('event_type').notNull(),
    position: integer('position').notNull(),
    active: bool('active').notNull(),
    rewardAmount: number('reward_amount').notNull(),
    /** -1: no limit. */
    maxClaims: number('max_claims').notNull(),
    /** -1: no limit. */
    maxTotalClaims: number('max_total_claims').notNull(),
    cooldownMs: number('cooldown_ms').notNull(),
    detail: jsonb('detail').$type<EventDetail>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.eventType] })],
);
