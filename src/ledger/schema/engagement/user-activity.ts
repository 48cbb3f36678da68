/** The table of what users did on chat platforms, as their brands' clients reported it. */
import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../../rules/brands/brand.ts';
import { address, number } from '../columns.ts';

export const userActivity = pgTable(
  'user_activity',
  {
    brandId: address('brand_id').$type<BrandId>().notNull(),
    userKey: text('user_key').notNull(),
    messages: number('messages').notNull(),
    voiceMinutes: number('voice_minutes').notNull(),
    reactions: number('reactions').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.userKey] })],
);
