/** The tables of the ledger; those of the relay are in relay-schema.ts, people in identity-schema.ts. Amounts are whole RWT, times are milliseconds since 1970, wei is text. */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandProfile, EventDetail } from '../../rules/brands/brand.ts';
import { address, bool, bytes, number } from './columns.ts';
import { gasBudgets, gasTopUps, gasWallets, rateWindows, relays } from './relay.ts';
import { oauthIdentities } from './wallets.ts';

export const brands = pgTable('brands', {
  brandId: address('brand_id').primaryKey(),
  name: text('name').notNull(),
  automation: bool('automation').notNull(),
  profile: jsonb('profile').$type<BrandProfile>().notNull(),
  /** What a brand's DNS tokens are made with; opens nothing by itself. */
  verificationSecret: text('verification_secret').notNull(),
  createdAt: number('created_at').notNull(),
});

/** Every domain of every brand, so that an Origin can be looked up without knowing its brand. */
export const brandDomains = pgTable(
  'brand_domains',
  {
    domain: text('domain').notNull(),
    brandId: address('brand_id').notNull(),
    /** configured: written by the brand · dns: proven by a TXT record. */
    source: text('source').$type<'configured' | 'dns'>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.domain, t.brandId] }),
    uniqueIndex('brand_domains_configured').on(t.domain).where(sql`source = 'configured'`),
  ],
);

/** Keys of brands: only digests, so that whoever reads this table can use none of them. */
export const brandKeys = pgTable('brand_keys', {
  keyId: text('key_id').primaryKey(),
  brandId: address('brand_id').notNull(),
  digest: text('digest').notNull(),
  createdAt: number('created_at').notNull(),
  /** Null: until it is rotated. */
  expiresAt: number('expires_at'),
});

/** First answers under an Idempotency-Key, and what a request that was cut off would have become. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    requestDigest: text('request_digest').notNull(),
    /** The id that the request's effect has, or would have: it is looked up before the request is done again. */
    effectId: text('effect_id').notNull(),
    /** Until then, the request is taken to be under way. */
    busyUntil: number('busy_until').notNull(),
    status: integer('status'),
    body: text('body'),
    createdAt: number('created_at').notNull(),
    /** Null before there is an answer, and for one that was kept before headers were. */
    headers: jsonb('headers').$type<Record<string, string>>(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.key] }), index('idempotency_keys_created').on(t.createdAt)],
);

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
});

/** Every movement of a brand's RWT on chain that is not a reward; a reward's own row is its movement. */
export const movements = pgTable(
  'movements',
  {
    id: text('id').primaryKey(),
    kind: text('kind').$type<'deposit' | 'withdrawal'>().notNull(),
    brandId: address('brand_id').notNull(),
    amount: number('amount').notNull(),
    transactionHash: bytes('transaction_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    blockNumber: number('block_number').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [uniqueIndex('movements_log').on(t.transactionHash, t.logIndex)],
);

/** Numbers that are handed out once: reward sequences, wallet indexes. */
export const counters = pgTable('counters', {
  name: text('name').$type<CounterName>().primaryKey(),
  next: number('next').notNull(),
});
export type CounterName = 'reward_sequence' | 'wallet_index' | 'gas_wallet_index' | 'relay_position';

export const wallets = pgTable(
  'wallets',
  {
    userKey: text('user_key').primaryKey(),
    address: address('address').notNull(),
    /** Place in the operator's key tree; null for an address that the user brought along. */
    derivationIndex: number('derivation_index'),
    createdAt: number('created_at').notNull(),
  },
  (t) => [uniqueIndex('wallets_derivation_index').on(t.derivationIndex)],
);

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
  },
  (t) => [
    index('rewards_failed').on(t.sequence).where(sql`failure is not null and released_at is null`),
    uniqueIndex('rewards_id').on(t.id),
    index('rewards_user').on(t.userKey, t.sequence),
    index('rewards_waiting').on(t.sequence).where(sql`transaction_id is null and failure is null`),
  ],
);

/** A sending account: who may use it now, and since which epoch. */
export const lanes = pgTable('lanes', {
  address: address('address').primaryKey(),
  purpose: text('purpose').$type<LanePurpose>().notNull(),
  owner: text('owner').notNull(),
  epoch: number('epoch').notNull(),
  leaseUntil: number('lease_until').notNull(),
});
export type LanePurpose = 'payout' | 'mint' | 'relay' | 'setup';

/**
 * stored: signed bytes are on disk and may have been sent · sent: a node took them ·
 * included: in a block · final: that block can no longer change.
 */
export type TransactionStatus = 'stored' | 'sent' | 'included' | 'final';

/** What a block showed: the payload had its effect, was reverted, or was replaced by one that does nothing. */
export type TransactionOutcome = 'done' | 'reverted' | 'noop';

/** One nonce of one lane and what it is used for. */
export const transactions = pgTable(
  'transactions',
  {
    id: text('id').primaryKey(),
    lane: address('lane').notNull(),
    nonce: number('nonce').notNull(),
    purpose: text('purpose').$type<LanePurpose>().notNull(),
    status: text('status').$type<TransactionStatus>().notNull(),
    epoch: number('epoch').notNull(),
    /** The attempt that was sent last or, once included, the one that is in the block. */
    hash: bytes('hash').notNull(),
    blockNumber: number('block_number'),
    blockHash: bytes('block_hash'),
    outcome: text('outcome').$type<TransactionOutcome>(),
    createdAt: number('created_at').notNull(),
    /** What the block's receipt says; null before it is in one. */
    gasUsed: number('gas_used'),
    gasPriceWei: text('gas_price_wei'),
  },
  (t) => [
    uniqueIndex('transactions_nonce').on(t.lane, t.nonce),
    index('transactions_open').on(t.lane, t.nonce).where(sql`status <> 'final'`),
  ],
);

/** The signed bytes of a transaction; a fee bump adds a row with the same payload. */
export const attempts = pgTable(
  'attempts',
  {
    hash: bytes('hash').primaryKey(),
    transactionId: text('transaction_id')
      .notNull()
      .references(() => transactions.id),
    attempt: integer('attempt').notNull(),
    /** noop: the payload was given up, and its nonce is used for nothing. */
    kind: text('kind').$type<'payload' | 'noop'>().notNull(),
    raw: bytes('raw').notNull(),
    maxFeeWei: text('max_fee_wei').notNull(),
    priorityFeeWei: text('priority_fee_wei').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [uniqueIndex('attempts_of_transaction').on(t.transactionId, t.attempt)],
);

/** The chain as far as this service has read it: enough recent blocks to notice a reorganisation. */
export const followedBlocks = pgTable('followed_blocks', {
  number: number('number').primaryKey(),
  hash: bytes('hash').notNull(),
});

/** The emulator's chain, block by block, so that a restart can build it again. */
export const journalBlocks = pgTable('journal_blocks', {
  number: number('number').primaryKey(),
  /** Smaller than `number` only for a run of empty blocks. */
  firstNumber: number('first_number').notNull(),
  hash: bytes('hash').notNull(),
  parentHash: bytes('parent_hash').notNull(),
  timestampSeconds: number('timestamp_seconds').notNull(),
  intervalSeconds: number('interval_seconds').notNull(),
  baseFeeWei: text('base_fee_wei').notNull(),
  rawTransactions: jsonb('raw_transactions').$type<`0x${string}`[]>().notNull(),
});

/** Single facts: which chain this is, where the contracts are, how far the clock was moved. */
export const facts = pgTable('facts', {
  name: text('name').primaryKey(),
  value: jsonb('value').notNull(),
});

export const everyTable = {
  brands,
  brandDomains,
  brandKeys,
  idempotencyKeys,
  eventRules,
  claimCounters,
  claimTotals,
  brandFunds,
  movements,
  counters,
  wallets,
  rewards,
  lanes,
  transactions,
  attempts,
  followedBlocks,
  journalBlocks,
  facts,
  rateWindows,
  gasWallets,
  gasBudgets,
  relays,
  gasTopUps,
  oauthIdentities,
};
