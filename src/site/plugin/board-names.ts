/** What leaderboards rank by, and since when, with the names that visitors read. */
import type { LeaderboardWish } from './plugin.ts';

export const metricNames: Record<LeaderboardWish['metric'], string> = {
  rwt_earned: 'RWT earned',
  activity: 'Activity',
  streak: 'Longest streak',
  claims: 'Rewards claimed',
};
export const periodNames: Record<LeaderboardWish['period'], string> = {
  week: 'This week',
  month: 'This month',
  all: 'Of all time',
};

export const metrics = Object.keys(metricNames) as LeaderboardWish['metric'][];
export const periods = Object.keys(periodNames) as LeaderboardWish['period'][];
