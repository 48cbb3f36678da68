/** The table of the emulated chat: which level and roles its users have. Empty in production. */
import { jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../../rules/brands/brand.ts';
import { address, number } from '../../schema/columns.ts';

export const emulatedChatStandings = pgTable(
  'emulated_chat_standings',
  {
    brandId: address('brand_id').$type<BrandId>().notNull(),
    platform: text('platform').notNull(),
    userKey: text('user_key').notNull(),
    level: number('level').notNull(),
    roles: jsonb('roles').$type<string[]>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.platform, t.userKey] })],
);
