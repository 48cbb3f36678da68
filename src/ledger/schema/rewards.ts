/** The tables of rewards: what was promised to whom, how often, and from whose money. Amounts are whole RWT. */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { SpendSpan } from '../../rules/events/spend-limit.ts';
import { address, bool, bytes, number } from './columns.ts';

/** One payout to one user. Written once; only `transactionId` and `failure` are filled in later. */
export const rewards = pgTable(
  'rewards',
  {
    sequence: number('sequence').primaryKey(),
    id: text('id').notNull(),
    brandId: address('brand_id').notNull(),
    eventType: text('event_type').notNull(),
    userKey: text('user_key').notNull(),
    userEmail: text('user_email'),
    wallet: address('wallet').notNull(),
    walletCreated: bool('wallet_created').notNull(),
    amount: number('amount').notNull(),
    metadata: jsonb('metadata').$type<Record<string, unknown>>().notNull(),
    createdAt: number('created_at').notNull(),
    transactionId: text('transaction_id'),
    /** Transactions that were to pay this reward and had no effect. */
    failedTries: integer('failed_tries').notNull(),
    /** Why it was not paid, from the block that shows it. */
    failure: text('failure'),
    /** When the failure became final and the claim was given back. */
    releasedAt: number('released_at'),
    /** Where the user was when it was earned, such as `discord`; null where nobody said so. */
    platform: text('platform'),
  },
  (t) => [
    index('rewards_failed').on(t.sequence).where(sql`failure is not null and released_at is null`),
    uniqueIndex('rewards_id').on(t.id),
    index('rewards_user').on(t.userKey, t.sequence),
    index('rewards_waiting').on(t.sequence).where(sql`transaction_id is null and failure is null`),
  ],
);

/** How often a user has claimed an event, and the last time it was granted. */
export const claimCounters = pgTable(
  'claim_counters',
  {
    brandId: address('brand_id').notNull(),
    eventType: text('event_type').notNull(),
    userKey: text('user_key').notNull(),
    claims: number('claims').notNull(),
    lastAt: number('last_at').notNull(),
    lastRewardId: text('last_reward_id').notNull(),
    lastAmount: number('last_amount').notNull(),
    /** The terms of the latest grant: what the conditional upsert compares the stored row with. */
    termsMaxClaims: number('terms_max_claims').notNull(),
    termsLastBefore: number('terms_last_before').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.eventType, t.userKey] })],
);

/** What a user was rewarded for once and for all, by a field of the event's metadata that the rule names (`oncePer`). */
export const onceClaims = pgTable(
  'once_claims',
  {
    brandId: address('brand_id').notNull(),
    eventType: text('event_type').notNull(),
    userKey: text('user_key').notNull(),
    /** The field: a rule that names another one begins anew. */
    field: text('field').notNull(),
    value: text('value').notNull(),
    rewardId: text('reward_id').notNull(),
    amount: number('amount').notNull(),
    claimedAt: number('claimed_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.eventType, t.userKey, t.field, t.value] })],
);

/** How often anyone has claimed an event. */
export const claimTotals = pgTable(
  'claim_totals',
  {
    brandId: address('brand_id').notNull(),
    eventType: text('event_type').notNull(),
    claims: number('claims').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.eventType] })],
);

/** What a brand has in escrow, and how much of that is promised to rewards, paid or not. */
export const brandFunds = pgTable('brand_funds', {
  brandId: address('brand_id').primaryKey(),
  deposited: number('deposited').notNull(),
  promised: number('promised').notNull(),
  /** As in the brand's own row; here it is read under the lock. */
  aliases: number('aliases').notNull().default(0),
});

/** What a brand's rewards came to since the first one of the present hour or day; only where the brand limits that. */
export const brandSpending = pgTable(
  'brand_spending',
  {
    brandId: address('brand_id').notNull(),
    span: text('span').$type<SpendSpan>().notNull(),
    startedAt: number('started_at').notNull(),
    spent: number('spent').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.span] })],
);

/** Every movement of a brand's RWT on chain that is not a reward; a reward's own row is its movement. */
export const movements = pgTable(
  'movements',
  {
    id: text('id').primaryKey(),
    kind: text('kind').$type<'deposit' | 'withdrawal' | 'redemption'>().notNull(),
    brandId: address('brand_id').notNull(),
    amount: number('amount').notNull(),
    transactionHash: bytes('transaction_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    blockNumber: number('block_number').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [uniqueIndex('movements_log').on(t.transactionHash, t.logIndex)],
);
