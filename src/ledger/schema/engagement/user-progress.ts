/**
 * The tables of what users have reached with a brand: streaks and the milestones whose bonus they claimed,
 * achievements, and what they did on chat platforms.
 */
import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { AchievementMetric } from '../../../rules/brands/achievement.ts';
import type { BrandId } from '../../../rules/brands/brand.ts';
import { address, bool, number } from '../columns.ts';

// The tables of streaks: how many days in a row users were active, and the milestones whose bonus they claimed.

/** A user's streak of one type, as of the last activity. */
export const streaks = pgTable(
  'streaks',
  {
    brandId: address('brand_id').notNull(),
    userKey: text('user_key').notNull(),
    streakType: text('streak_type').notNull(),
    current: number('current_days').notNull(),
    longest: number('longest_days').notNull(),
    totalDays: number('total_days').notNull(),
    /** The calendar day of the last activity in the brand's time zone, counted from 1970-01-01. */
    lastDay: number('last_day').notNull(),
    lastAt: number('last_at').notNull(),
    graceUsed: bool('grace_used').notNull(),
    /** Which of the latest days, see `Streak`. */
    daysSeen: text('days_seen').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.userKey, t.streakType] })],
);

/** A claimed bonus. It can be claimed once more only where its reward failed for good. */
export const streakMilestones = pgTable(
  'streak_milestones',
  {
    brandId: address('brand_id').notNull(),
    userKey: text('user_key').notNull(),
    streakType: text('streak_type').notNull(),
    days: number('days').notNull(),
    bonus: number('bonus').notNull(),
    /** Null where the brand's own events pay for streaks. */
    rewardId: text('reward_id'),
    claimedAt: number('claimed_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.userKey, t.streakType, t.days] })],
);

/** The table of what users have reached of their brands' achievements, which are settings of the brand. */
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

/** The table of what users did on chat platforms, as their brands' clients reported it. */
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
