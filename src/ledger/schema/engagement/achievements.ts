/** The table of what users have reached of their brands' achievements, which are settings of the brand. */
import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { AchievementMetric } from '../../../rules/brands/achievement.ts';
import type { BrandId } from '../../../rules/brands/brand.ts';
import { address, number } from '../columns.ts';

export const achievementProgress = pgTable(
  'achievement_progress',
  {
    brandId: address('brand_id').$type<BrandId>().notNull(),
    userKey: text('user_key').notNull(),
    achievementType: text('achievement_type').notNull(),
    /** As reported, of what clients count; of all others what there was at the unlock. */
    progress: number('progress').notNull(),
    /** Null until the threshold was reached; then never again. */
    unlockedAt: number('unlocked_at'),
    /** What was counted then; null while it is locked, and of unlocks from before this was noted. */
    unlockedBy: text('unlocked_by').$type<AchievementMetric>(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.userKey, t.achievementType] })],
);
