/** The emulated chat: which level and roles its users have. Empty in production. */

import { and, asc, eq, inArray } from 'drizzle-orm';
import { jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { address, number } from '../schema/columns.ts';

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

// The emulated chat: levels and roles as a developer has set them.

type EmulatedStanding = typeof emulatedChatStandings.$inferSelect;

/** How users stand in a brand's chats; without `userKeys`, all of them. */
export const emulatedStandings = (
  db: Queries,
  { brandId, userKeys }: { brandId: BrandId; userKeys?: readonly string[] },
): Promise<EmulatedStanding[]> =>
  db
    .select()
    .from(emulatedChatStandings)
    .where(
      and(
        eq(emulatedChatStandings.brandId, brandId),
        userKeys && inArray(emulatedChatStandings.userKey, [...userKeys]),
      ),
    )
    .orderBy(asc(emulatedChatStandings.platform), asc(emulatedChatStandings.userKey));

/** Sets the level, the roles or both; what is not given stays, at first 0 and none. */
export async function setEmulatedStanding(
  tx: Queries,
  {
    brandId,
    platform,
    userKey,
    ...change
  }: Pick<EmulatedStanding, 'brandId' | 'platform' | 'userKey'> &
    Partial<Pick<EmulatedStanding, 'level' | 'roles'>>,
): Promise<EmulatedStanding> {
  const of = { brandId, platform, userKey };
  const all = await emulatedStandings(tx, { brandId, userKeys: [userKey] });
  const before = all.find((one) => one.platform === platform);
  const standing = {
    ...of,
    level: change.level ?? before?.level ?? 0,
    roles: change.roles ?? before?.roles ?? [],
  };
  await tx
    .insert(emulatedChatStandings)
    .values(standing)
    .onConflictDoUpdate({
      target: [emulatedChatStandings.brandId, emulatedChatStandings.platform, emulatedChatStandings.userKey],
      set: { level: standing.level, roles: standing.roles },
    });
  return standing;
}
