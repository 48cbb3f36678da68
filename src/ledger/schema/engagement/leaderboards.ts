/** The tables of leaderboards: how much each user of a brand did in a day, a week, a month, and ever. */
import { sql } from 'drizzle-orm';
import { index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import type { BoardPeriod } from '../../../rules/engagement/board-window.ts';
import type { BoardMetric } from '../../../rules/engagement/rank-tree.ts';
import { address, bool, number } from '../columns.ts';

/** A board of a brand for one window of time. Windows of a kind never overlap, also when the brand's time zone changes. */
export const leaderboards = pgTable(
  'leaderboards',
  {
    id: number('id').primaryKey(),
    brandId: address('brand_id').notNull(),
    period: text('period').$type<BoardPeriod>().notNull(),
    /** Empty: what was done on all platforms. */
    platform: text('platform').notNull(),
    startsAt: number('starts_at').notNull(),
    endsAt: number('ends_at').notNull(),
    /** It ended long ago: its scores are deleted, and nothing is counted on it. */
    closed: bool('closed').notNull().default(false),
  },
  (t) => [
    uniqueIndex('leaderboards_window').on(t.brandId, t.period, t.platform, t.startsAt),
    index('leaderboards_end').on(t.endsAt),
  ],
);

/** What a user has on a board. */
export const leaderboardScores = pgTable(
  'leaderboard_scores',
  {
    boardId: number('board_id').notNull(),
    userKey: text('user_key').notNull(),
    rwtEarned: number('rwt_earned').notNull(),
    claims: number('claims').notNull(),
    activity: number('activity').notNull(),
    streak: number('streak').notNull(),
    /** The streak before the latest change: the statement that changes it returns both. */
    streakBefore: number('streak_before').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.boardId, t.userKey] }),
    index('leaderboard_scores_by_rwt').on(t.boardId, t.rwtEarned).where(sql`rwt_earned > 0`),
    index('leaderboard_scores_by_claims').on(t.boardId, t.claims).where(sql`claims > 0`),
    index('leaderboard_scores_by_activity').on(t.boardId, t.activity).where(sql`activity > 0`),
    index('leaderboard_scores_by_streak').on(t.boardId, t.streak).where(sql`streak > 0`),
  ],
);

/** How many users have a score in a range, so that a rank is found without counting users (`rules/engagement/rank-tree.ts`). */
export const leaderboardRanks = pgTable(
  'leaderboard_ranks',
  {
    boardId: number('board_id').notNull(),
    metric: text('metric').$type<BoardMetric>().notNull(),
    level: integer('level').notNull(),
    node: number('node').notNull(),
    users: number('users').notNull(),
  },
  (t) => [primaryKey({ columns: [t.boardId, t.metric, t.level, t.node] })],
);

/** How a user is shown on a brand's boards: as the latest caller said. */
export const leaderboardUsers = pgTable(
  'leaderboard_users',
  {
    brandId: address('brand_id').notNull(),
    userKey: text('user_key').notNull(),
    displayName: text('display_name'),
    platform: text('platform').notNull(),
  },
  (t) => [primaryKey({ columns: [t.brandId, t.userKey] })],
);

/** What callers reported of RWT that users earned elsewhere: with it, every score can be counted again. */
export const leaderboardReports = pgTable(
  'leaderboard_reports',
  {
    id: text('id').primaryKey(),
    brandId: address('brand_id').notNull(),
    userKey: text('user_key').notNull(),
    /** Empty: nobody said so. */
    platform: text('platform').notNull(),
    amount: number('amount').notNull(),
    claimType: text('claim_type'),
    /** It came with the brand's key. */
    withBrandKey: bool('with_brand_key').notNull(),
    createdAt: number('created_at').notNull(),
  },
  (t) => [index('leaderboard_reports_user').on(t.userKey, t.brandId)],
);
