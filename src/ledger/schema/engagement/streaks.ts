/** The tables of streaks: how many days in a row users were active, and the milestones whose bonus they claimed. */
import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { address, bool, number } from '../columns.ts';

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
