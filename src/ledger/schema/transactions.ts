/** The tables that all on-chain work shares: sending accounts, nonces, signed bytes, and what the chain showed. Wei is text. */
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { address, bool, bytes, number } from './columns.ts';

export type LanePurpose = 'payout' | 'mint' | 'relay' | 'redeem' | 'setup';

/** A sending account: the process that may use it now, and its epoch. */
export const lanes = pgTable('lanes', {
  address: address('address').primaryKey(),
  purpose: text('purpose').$type<LanePurpose>().notNull(),
  owner: text('owner').notNull(),
  epoch: number('epoch').notNull(),
  leaseUntil: number('lease_until').notNull(),
});

/**
 * stored: signed bytes are on disk and may have been sent · sent: a node took them ·
 * included: in a block · final: that block can no longer change.
 */
export type TransactionStatus = 'stored' | 'sent' | 'included' | 'final';

/** What a block showed: the payload had its effect, was reverted, or was replaced by a transaction that does nothing. */
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
    /** What the chain took beside gas, for its data on another chain; null where it takes nothing. */
    l1FeeWei: text('l1_fee_wei'),
    /** Where it stands in the feed of consumers: of payouts, mints and redemptions that a block shows as done; 0 from before there was one. */
    feedPosition: number('feed_position'),
  },
  (t) => [
    uniqueIndex('transactions_nonce').on(t.lane, t.nonce),
    index('transactions_open').on(t.lane, t.nonce).where(sql`status <> 'final'`),
    index('transactions_by_block').on(t.blockNumber).where(sql`status <> 'final'`),
    uniqueIndex('transactions_feed').on(t.feedPosition).where(sql`feed_position > 0`),
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
    /** Every offer of these bytes was refused by every node that it went to. False before each offer. */
    refused: bool('refused').notNull().default(false),
  },
  (t) => [uniqueIndex('attempts_of_transaction').on(t.transactionId, t.attempt)],
);

/** Nonces of a lane that other senders used, `from_nonce` up to but without `next_nonce`, and who accepted that. */
export const acceptedNonces = pgTable(
  'accepted_nonces',
  {
    lane: address('lane').notNull(),
    fromNonce: number('from_nonce').notNull(),
    nextNonce: number('next_nonce').notNull(),
    acceptedBy: text('accepted_by').notNull(),
    reason: text('reason').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.lane, t.fromNonce] })],
);

/** Sending accounts that an operator has retired, and why. */
export const retiredLanes = pgTable('retired_lanes', {
  lane: address('lane').primaryKey(),
  retiredBy: text('retired_by').notNull(),
  reason: text('reason').notNull(),
  createdAt: number('created_at').notNull(),
});

/** The chain as far as this service has read it: enough recent blocks to notice a reorganisation. */
export const followedBlocks = pgTable('followed_blocks', {
  number: number('number').primaryKey(),
  hash: bytes('hash').notNull(),
  /** The last position of the feed once this block is booked. */
  feedPosition: number('feed_position').notNull().default(0),
});
