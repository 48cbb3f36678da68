/** The tables of people: their wallets, and the identities that a brand registered before the first login or reward. */
import { index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { address, number } from './columns.ts';

export const wallets = pgTable(
  'wallets',
  {
    userKey: text('user_key').primaryKey(),
    address: address('address').notNull(),
    /** Place in the operator's key tree; null for an address that the user brought along. */
    derivationIndex: number('derivation_index'),
    createdAt: number('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('wallets_derivation_index').on(t.derivationIndex),
    index('wallets_address').on(t.address),
  ],
);

/** One account on a platform, or one e-mail, and the user that it is here. Written once, never changed. */
export const oauthIdentities = pgTable(
  'oauth_identities',
  {
    /** A chat platform such as `discord`, or `email`. */
    provider: text('provider').notNull(),
    /** The user's id there; for `email`, the e-mail in the ledger's form. */
    providerUserId: text('provider_user_id').notNull(),
    /** Under which rewards and wallets know the user. */
    userKey: text('user_key').notNull(),
    /** The user's name for callers: a UUID that tells nothing about them. */
    idpUserId: text('idp_user_id').notNull(),
    /** As it was when the identity was first registered; null for an e-mail. */
    username: text('username'),
    createdAt: number('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.provider, t.providerUserId] }),
    index('oauth_identities_user').on(t.userKey),
  ],
);

/** A name under which a brand knows one of its users, and the user. */
export const userAliases = pgTable(
  'user_aliases',
  {
    brandId: address('brand_id').notNull(),
    aliasKey: text('alias_key').notNull(),
    userKey: text('user_key').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.brandId, t.aliasKey] }),
    index('user_aliases_user').on(t.brandId, t.userKey),
  ],
);

/** Users for whom a brand asked for a wallet with its key, before their first reward. */
export const pregeneratedUsers = pgTable(
  'pregenerated_users',
  {
    brandId: address('brand_id').notNull(),
    userKey: text('user_key').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.userKey] })],
);
