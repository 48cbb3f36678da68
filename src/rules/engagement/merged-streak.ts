/** One streak of two that turn out to be one person's. */
import type { Streak } from './streak.ts';

/**
 * The one with the later activity goes on, so that a day that either has is not counted again; the longest and the number of
 * days are the larger ones, since the two may have the same days.
 */
export function mergedStreak(one: Streak, other: Streak | undefined): Streak {
  const isLater =
    !other || one.lastDay > other.lastDay || (one.lastDay === other.lastDay && one.current >= other.current);
  const { current, lastDay, lastAt, graceUsed } = isLater ? one : other;
  return {
    current,
    longest: Math.max(one.longest, other?.longest ?? 0),
    totalDays: Math.max(one.totalDays, other?.totalDays ?? 0),
    lastDay,
    lastAt,
    graceUsed,
  };
}
