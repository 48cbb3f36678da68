/** Unlocked achievements and claimed milestones in pages of users, with what they rest on, to count them again. */
import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { achievementProgress, streakMilestones, streaks } from '../schema/engagement/user-progress.ts';
import { rewards } from '../schema/rewards.ts';

interface UserPage {
  brandId: BrandId;
  after: string;
  limit: number;
}

/** Users of a brand after `after` who have unlocked something that the service counts. */
export async function unlockedUsers(db: Queries, { brandId, after, limit }: UserPage): Promise<string[]> {
  const { userKey, unlockedBy } = achievementProgress;
  const rows = await db
    .selectDistinct({ userKey })
    .from(achievementProgress)
    .where(and(eq(achievementProgress.brandId, brandId), gt(userKey, after), isNotNull(unlockedBy)))
    .orderBy(asc(userKey))
    .limit(limit);
  return rows.map((row) => row.userKey);
}

/** What these users have unlocked, as far as it is known by what. */
export const unlocksOf = (db: Queries, of: { brandId: BrandId; userKeys: string[] }) =>
  inChunks(of.userKeys, (some) =>
    db
      .select()
      .from(achievementProgress)
      .where(
        and(
          eq(achievementProgress.brandId, of.brandId),
          inArray(achievementProgress.userKey, some),
          isNotNull(achievementProgress.unlockedBy),
        ),
      ),
  );

/** Rewards that these users ever got from a brand, also those that failed later, by user. */
export async function grantedEver(
  db: Queries,
  of: { brandId: BrandId; userKeys: string[] },
): Promise<Map<string, { claims: number; rwt: number }>> {
  const rows = await inChunks(of.userKeys, (some) =>
    db
      .select({
        userKey: rewards.userKey,
        claims: sql<number>`count(*)`.mapWith(Number),
        rwt: sql<number>`sum(${rewards.amount})`.mapWith(Number),
      })
      .from(rewards)
      .where(and(eq(rewards.brandId, of.brandId), inArray(rewards.userKey, some)))
      .groupBy(rewards.userKey),
  );
  return new Map(rows.map(({ userKey, ...granted }) => [userKey, granted]));
}

/** The longest streak of each of these users, of any type. */
export async function longestStreaks(
  db: Queries,
  of: { brandId: BrandId; userKeys: string[] },
): Promise<Map<string, number>> {
  const rows = await inChunks(of.userKeys, (some) =>
    db
      .select({ userKey: streaks.userKey, days: sql<number>`max(${streaks.longest})`.mapWith(Number) })
      .from(streaks)
      .where(and(eq(streaks.brandId, of.brandId), inArray(streaks.userKey, some)))
      .groupBy(streaks.userKey),
  );
  return new Map(rows.map(({ userKey, days }) => [userKey, days]));
}

/** Users of a brand after `after` who have claimed a milestone. */
export async function milestoneUsers(db: Queries, { brandId, after, limit }: UserPage): Promise<string[]> {
  const { userKey } = streakMilestones;
  const rows = await db
    .selectDistinct({ userKey })
    .from(streakMilestones)
    .where(and(eq(streakMilestones.brandId, brandId), gt(userKey, after)))
    .orderBy(asc(userKey))
    .limit(limit);
  return rows.map((row) => row.userKey);
}

/** Milestones that these users claimed, with the rewards that pay them and the streaks that reached them. */
export const claimedBy = (db: Queries, of: { brandId: BrandId; userKeys: string[] }) =>
  inChunks(of.userKeys, (some) =>
    db
      .select({ claim: streakMilestones, reward: rewards, longest: streaks.longest })
      .from(streakMilestones)
      .leftJoin(rewards, eq(rewards.id, streakMilestones.rewardId))
      .leftJoin(
        streaks,
        and(
          eq(streaks.brandId, streakMilestones.brandId),
          eq(streaks.userKey, streakMilestones.userKey),
          eq(streaks.streakType, streakMilestones.streakType),
        ),
      )
      .where(and(eq(streakMilestones.brandId, of.brandId), inArray(streakMilestones.userKey, some))),
  );
