/** The relay's tables: calls to send, the users they are for, and the accounts that pay their gas. */
import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../rules/brands/brand.ts';
import { address, bool, bytes, number } from './columns.ts';

/** Whose gas is used: a brand's, or the service's own where no brand is known. */
export type GasPayer = BrandId | 'service';

/** The accounts that pay for gas, one for each payer. */
export const gasWallets = pgTable(
  'gas_wallets',
  {
    payer: text('payer').$type<GasPayer>().primaryKey(),
    /** Place among the keys that grow from the relay's own; null for that one. */
    keyIndex: number('key_index'),
    address: address('address').notNull(),
    /** The wallet has gas money and the relayer role; until then the service's own wallet sends for the brand. */
    ready: bool('ready').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('gas_wallets_key_index').on(t.keyIndex),
    uniqueIndex('gas_wallets_address').on(t.address),
  ],
);

/** What a payer has promised or spent for gas on one day. */
export const gasBudgets = pgTable(
  'gas_budgets',
  {
    payer: text('payer').$type<GasPayer>().notNull(),
    /** Days since 1970, UTC. */
    day: number('day').notNull(),
    spentGwei: number('spent_gwei').notNull(),
  },
  (t) => [primaryKey({ columns: [t.payer, t.day] })],
);

/** What one user's calls have promised or spent of a payer's day. */
export const gasShares = pgTable(
  'gas_shares',
  {
    payer: text('payer').$type<GasPayer>().notNull(),
    day: number('day').notNull(),
    userAddress: address('user_address').notNull(),
    spentGwei: number('spent_gwei').notNull(),
  },
  (t) => [primaryKey({ columns: [t.payer, t.day, t.userAddress] })],
);

/** A call that must come before the relayed one, from the nonce just before it. */
export interface PermitCall {
  to: `0x${string}`;
  data: `0x${string}`;
  gas: number;
}

/** One call on behalf of a user. Written once; only the transactions that carry it are filled in later. */
export const relays = pgTable(
  'relays',
  {
    /** Order in which they are sent. */
    position: number('position').primaryKey(),
    id: text('id').notNull(),
    /** The account that sends it. */
    lane: address('lane').notNull(),
    /** Whose gas budget it uses. */
    payer: text('payer').$type<GasPayer>().notNull(),
    userAddress: address('user_address').notNull(),
    recipient: address('recipient').notNull(),
    data: bytes('data').notNull(),
    valueWei: text('value_wei').notNull(),
    gas: number('gas').notNull(),
    permit: jsonb('permit').$type<PermitCall>(),
    /** The worst case, taken from the payer's budget when the call was queued. */
    reservedGwei: number('reserved_gwei').notNull(),
    budgetDay: number('budget_day').notNull(),
    createdAt: number('created_at').notNull(),
    permitTransactionId: text('permit_transaction_id'),
    transactionId: text('transaction_id'),
    /** What the budget counts for it now. Null: the call was settled before this was kept. */
    chargedGwei: number('charged_gwei'),
  },
  (t) => [
    uniqueIndex('relays_id').on(t.id),
    index('relays_transaction').on(t.transactionId),
    index('relays_permit_transaction').on(t.permitTransactionId),
    index('relays_waiting').on(t.lane, t.position).where(sql`transaction_id is null`),
  ],
);

/** Native currency that the service's own gas wallet is to send to a brand's. */
export const gasTopUps = pgTable(
  'gas_top_ups',
  {
    id: text('id').primaryKey(),
    /** The account that sends it. */
    lane: address('lane').notNull(),
    wallet: address('wallet').notNull(),
    amountWei: text('amount_wei').notNull(),
    createdAt: number('created_at').notNull(),
    transactionId: text('transaction_id'),
  },
  (t) => [index('gas_top_ups_waiting').on(t.lane, t.createdAt).where(sql`transaction_id is null`)],
);
