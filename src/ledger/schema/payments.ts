/** The tables of payments: checkouts, the RWT they mint, and the processor's events that were worked off. USD is in cents, RWT whole. */
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../rules/brands/brand.ts';
import { address, bool, bytes, number } from './columns.ts';

/** Where the RWT of a payment goes: to the account `wallet`, or into the brand's escrow balance. */
export type MintKind = 'wallet' | 'escrow';

/**
 * creating: written before the processor is asked · refused: the processor made no session of it and will not · open: the
 * processor has it, nobody has paid · paid: the processor says so · expired: the processor takes no payment for it any more.
 */
export type CheckoutState = 'creating' | 'refused' | 'open' | 'paid' | 'expired';

/** One checkout: what was planned here, and what the processor said of it last. */
export const checkoutSessions = pgTable(
  'checkout_sessions',
  {
    /** Ours: `client_reference_id` and idempotency key at the processor. */
    id: text('id').primaryKey(),
    brandId: address('brand_id').$type<BrandId>().notNull(),
    userEmail: text('user_email'),
    /** Who gets the RWT when it is not minted into escrow. */
    wallet: address('wallet').notNull(),
    amountCents: number('amount_cents').notNull(),
    /** As the processor spells it: three lower-case letters. */
    currency: text('currency').notNull(),
    rwtAmount: number('rwt_amount').notNull(),
    mintTo: text('mint_to').$type<MintKind>().notNull(),
    /** Null until the processor has answered. */
    processorSessionId: text('processor_session_id'),
    url: text('url'),
    livemode: bool('livemode').notNull(),
    paymentIntentId: text('payment_intent_id'),
    /** The processor's word, as last seen. */
    paymentStatus: text('payment_status'),
    state: text('state').$type<CheckoutState>().notNull(),
    createdAt: number('created_at').notNull(),
    expiresAt: number('expires_at').notNull(),
    /** When the reconciler asks the processor again; null: never. */
    nextLookAt: number('next_look_at'),
    /** What was given back in all. */
    refundedCents: number('refunded_cents').notNull(),
    disputedAt: number('disputed_at'),
    /** The address that a caller without the brand's key came from, while the checkout is open; null for all others. */
    openedFrom: text('opened_from'),
    /** When the newest event of the processor that calls it paid was made; whether it is paid, the processor is asked. */
    hintedAt: number('hinted_at'),
  },
  (t) => [
    uniqueIndex('checkout_sessions_processor').on(t.processorSessionId),
    index('checkout_sessions_intent').on(t.paymentIntentId),
    index('checkout_sessions_brand').on(t.brandId, t.createdAt),
    index('checkout_sessions_look').on(t.nextLookAt).where(sql`next_look_at is not null`),
    index('checkout_sessions_opened').on(t.openedFrom, t.expiresAt).where(sql`opened_from is not null`),
    index('checkout_sessions_keyless').on(t.brandId, t.expiresAt).where(sql`opened_from is not null`),
    index('checkout_sessions_hinted')
      .on(t.hintedAt)
      .where(sql`hinted_at is not null and next_look_at is not null`),
    index('checkout_sessions_unattached')
      .on(t.createdAt)
      .where(sql`processor_session_id is null and next_look_at is not null`),
  ],
);

/** RWT that one paid session mints, once. Written once; only the columns from `transactionId` on change later. */
export const mints = pgTable(
  'mints',
  {
    /** The processor's id of the session. */
    sessionId: text('session_id').primaryKey(),
    /** The key under which the sale mints once: keccak256 of the session's id. */
    key: bytes('key').notNull(),
    kind: text('kind').$type<MintKind>().notNull(),
    brandId: address('brand_id').$type<BrandId>().notNull(),
    wallet: address('wallet').notNull(),
    usdCents: number('usd_cents').notNull(),
    rwtAmount: number('rwt_amount').notNull(),
    paymentIntentId: text('payment_intent_id'),
    createdAt: number('created_at').notNull(),
    transactionId: text('transaction_id'),
    /** Transactions that were to mint it and had no effect. */
    failedTries: integer('failed_tries').notNull(),
    /** Why it was given up: the call can never run. */
    failure: text('failure'),
    /** How often the chain refused it, as a trial showed; from `nextTryAt` on, by the ledger's clock, it is tried again. */
    refusals: integer('refusals').notNull().default(0),
    nextTryAt: number('next_try_at').notNull().default(0),
    /** What the chain said last. */
    refusal: text('refusal'),
    /** The transaction of somebody else in which the sale has used the key, null where it is not known; and its block. */
    shownHash: bytes('shown_hash'),
    shownBlock: number('shown_block'),
  },
  (t) => [
    uniqueIndex('mints_key').on(t.key),
    index('mints_transaction').on(t.transactionId),
    index('mints_waiting')
      .on(t.createdAt)
      .where(sql`transaction_id is null and failure is null and shown_block is null`),
    index('mints_shown').on(t.shownBlock).where(sql`shown_block is not null`),
  ],
);

/** RWT that an operator creates by hand, and why: what a comparison with the chain accepts beside the payments. */
export const operatorMints = pgTable(
  'operator_mints',
  {
    /** The key under which the sale mints once; for a mint past the sale, the hash of its transaction. */
    key: bytes('key').primaryKey(),
    /**
     * wallet, escrow: the mint lane sends it · sale: by `mintIntoEscrow`, which the operator sends · direct: minted past
     * the sale, by a transaction that was named.
     */
    kind: text('kind').$type<MintKind | 'sale' | 'direct'>().notNull(),
    /** The account for kind wallet, else the brand. */
    recipient: address('recipient').notNull(),
    amount: number('amount').notNull(),
    reason: text('reason').notNull(),
    createdAt: number('created_at').notNull(),
    transactionId: text('transaction_id'),
    /** As of a payment's mint. */
    failedTries: integer('failed_tries').notNull().default(0),
    failure: text('failure'),
    /** As of a payment's mint, to the last column. */
    refusals: integer('refusals').notNull().default(0),
    nextTryAt: number('next_try_at').notNull().default(0),
    refusal: text('refusal'),
    shownHash: bytes('shown_hash'),
    shownBlock: number('shown_block'),
  },
  (t) => [
    index('operator_mints_recipient').on(t.recipient),
    index('operator_mints_transaction').on(t.transactionId),
    index('operator_mints_waiting')
      .on(t.createdAt)
      .where(sql`transaction_id is null and failure is null and shown_block is null`),
    index('operator_mints_shown').on(t.shownBlock).where(sql`shown_block is not null`),
  ],
);

/** The processor's events that were worked off, so that each has its effect once. */
export const processorEvents = pgTable(
  'processor_events',
  {
    /** The processor's. */
    id: text('id').primaryKey(),
    type: text('type').notNull(),
    /** The processor's id of what the event is about. */
    objectId: text('object_id').notNull(),
    /** When the processor says it happened, and when it came here. */
    createdAt: number('created_at').notNull(),
    receivedAt: number('received_at').notNull(),
    /** What became of it, in a word. */
    result: text('result').notNull(),
  },
  (t) => [
    index('processor_events_object').on(t.objectId),
    index('processor_events_received').on(t.receivedAt),
  ],
);
