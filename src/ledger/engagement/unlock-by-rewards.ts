/** Unlocks the achievements that users have reached by rewards which blocks show as paid. */
import { inArray } from 'drizzle-orm';
import { type Achievement, achievementsOf, reachedBy } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { brands } from '../schema/brands.ts';
import { markUnlocked, paidTotals, stillLocked, type Unlocked } from './achievements.ts';

/** `users`: who was paid, as often as they were. Returns what was unlocked now. */
export async function unlockByRewards(
  tx: Queries,
  { users, nowMs }: { users: { brandId: string; userKey: string }[]; nowMs: number },
): Promise<Unlocked[]> {
  if (users.length === 0) return [];
  const counted = await countedAchievements(tx, [...new Set(users.map(({ brandId }) => brandId as BrandId))]);
  const concerned = users.filter(({ brandId }) => counted.has(brandId as BrandId));
  if (concerned.length === 0) return [];
  const userKeys = [...new Set(concerned.map(({ userKey }) => userKey))];
  const totals = await paidTotals(tx, { brandIds: [...counted.keys()], userKeys });
  const reached = totals.flatMap(({ brandId, userKey, claims, rwtEarned }): Unlocked[] =>
    reachedBy(counted.get(brandId) ?? [], { claims, rwt_earned: rwtEarned }).map((achievement) => ({
      brandId,
      userKey,
      achievement,
      progress: achievement.metric === 'claims' ? claims : rwtEarned,
    })),
  );
  return markUnlocked(tx, { reached: await stillLocked(tx, reached), nowMs });
}

/** The achievements that rewards count for, of those of the brands that have any. */
async function countedAchievements(tx: Queries, brandIds: BrandId[]): Promise<Map<BrandId, Achievement[]>> {
  const rows = await inChunks(brandIds, (some) =>
    tx
      .select({ brandId: brands.brandId, profile: brands.profile })
      .from(brands)
      .where(inArray(brands.brandId, some)),
  );
  return new Map(
    rows.flatMap(({ brandId, profile }): [BrandId, Achievement[]][] => {
      const byRewards = achievementsOf(profile).filter(
        ({ metric }) => metric === 'claims' || metric === 'rwt_earned',
      );
      return byRewards.length > 0 ? [[brandId, byRewards]] : [];
    }),
  );
}
