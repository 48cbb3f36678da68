/** How far a user is with each achievement of a brand. */
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { paidTotals, readAchievements } from '../../ledger/engagement/achievements.ts';
import { longestStreak } from '../../ledger/engagement/streaks.ts';
import { type Achievement, achievementsOf } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export interface UserAchievement extends Achievement {
  progress: number;
  /** Milliseconds since 1970. */
  unlockedAt: number | null;
}

/** A user without anything has zeros. Undefined when the brand does not exist. */
export async function listUserAchievements(
  { database: { db } }: { database: Database },
  user: { brandId: BrandId; userKey: string },
): Promise<UserAchievement[] | undefined> {
  const { brandId, userKey } = user;
  const brand = await findBrand(db, brandId);
  if (!brand) return undefined;
  const achievements = achievementsOf(brand.profile);
  if (achievements.length === 0) return [];
  const known = await readAchievements(db, user);
  const [paid] = await paidTotals(db, { brandIds: [brandId], userKeys: [userKey] });
  const counted = {
    claims: paid?.claims ?? 0,
    rwt_earned: paid?.rwtEarned ?? 0,
    streak_days: await longestStreak(db, user),
  };
  return achievements.map((achievement) => {
    const row = known.get(achievement.type);
    const progress = achievement.metric === 'manual' ? (row?.progress ?? 0) : counted[achievement.metric];
    return { ...achievement, progress, unlockedAt: row?.unlockedAt ?? null };
  });
}
