/** The table of what brands' servers said about buyers. */
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../../rules/brands/brand.ts';
import { address, bool, number } from '../columns.ts';

export const constraintResults = pgTable(
  'constraint_results',
  {
    brandId: address('brand_id').$type<BrandId>().notNull(),
    /** In the form of `constraintUrlKey`. */
    url: text('url').notNull(),
    /** The buyer's wallet, lower case. */
    userAddress: address('user_address').notNull(),
    /** The perk's id on chain. */
    collectionId: number('collection_id').notNull(),
    /** The latest question: its answer alone is kept, and none once the row is gone. */
    askedBy: text('asked_by').notNull(),
    /** Null while the question is under way. */
    isMet: bool('is_met'),
    /** Why not, in the words of the brand's server. */
    message: text('message'),
    /** Until then (ms) the result counts. */
    expiresAt: number('expires_at').notNull(),
    /** How the buyer stood in the brand's chats when the question was asked; null where no look compares it. */
    standing: text('standing'),
  },
  (t) => [
    primaryKey({ columns: [t.brandId, t.url, t.userAddress, t.collectionId] }),
    index('constraint_results_user').on(t.userAddress),
    index('constraint_results_expiry').on(t.expiresAt),
  ],
);
