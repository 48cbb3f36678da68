/** The tables of consumers: what was taken back from their feed, how far each has read, and what one could not digest. */
import { index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../rules/brands/brand.ts';
import { address, number } from './columns.ts';
import type { LanePurpose } from './transactions.ts';

/** A fact that a reorganisation took back; the booking itself is forgotten by the transaction, and kept here. */
export const feedTakeBacks = pgTable(
  'feed_take_backs',
  {
    position: number('position').primaryKey(),
    /** Where the fact stands that is taken back. */
    bookedPosition: number('booked_position').notNull(),
    transactionId: text('transaction_id').notNull(),
    purpose: text('purpose').$type<LanePurpose>().notNull(),
    /** Of a payout: the rewards that it had paid. */
    sequences: jsonb('sequences').$type<number[]>().notNull(),
  },
  (t) => [index('feed_take_backs_booked').on(t.bookedPosition)],
);

/** Every fact up to `position` has had its effect by this consumer, or is set aside. */
export const consumerPositions = pgTable('consumer_positions', {
  consumer: text('consumer').primaryKey(),
  position: number('position').notNull(),
});

/** Facts of one brand after one position up to another, which a consumer could not digest. */
export const consumerSetAside = pgTable(
  'consumer_set_aside',
  {
    consumer: text('consumer').notNull(),
    brandId: address('brand_id').$type<BrandId>().notNull(),
    afterPosition: number('after_position').notNull(),
    upToPosition: number('up_to_position').notNull(),
    tries: integer('tries').notNull(),
    /** By the clock of the machine that writes it. */
    nextTryAt: number('next_try_at').notNull(),
    /** The first cause, as the log has it. */
    error: text('error').notNull(),
  },
  (t) => [primaryKey({ columns: [t.consumer, t.brandId, t.upToPosition] })],
);
