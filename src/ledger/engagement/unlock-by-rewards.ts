/** Unlocks the achievements that users have reached by rewards, in the commit that books the block which pays them. */
import { inArray } from 'drizzle-orm';
import { type Achievement, achievementsOf, reachedBy } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { brands } from '../schema/brands.ts';
import { rewards } from '../schema/rewards.ts';
import { markUnlocked, paidTotals, stillLocked, type Unlocked } from './achievements.ts';

/** `paid`: the rewards that the block's payouts carry. Returns what was unlocked now. */
export async function unlockByRewards(
  tx: Queries,
  { paid, nowMs }: { paid: { brandId: BrandId; sequence: number }[]; nowMs: number },
): Promise<Unlocked[]> {
  const counted = await countedAchievements(tx, [...new Set(paid.map(({ brandId }) => brandId))]);
  if (counted.size === 0) return [];
  const users = await inChunks(
    paid.flatMap(({ brandId, sequence }) => (counted.has(brandId) ? sequence : [])),
    (some) =>
      tx
        .selectDistinct({ brandId: rewards.brandId, userKey: rewards.userKey })
        .from(rewards)
        .where(inArray(rewards.sequence, some)),
  );
  const concerned = users.filter(({ brandId }) => counted.has(brandId));
  if (concerned.length === 0) return [];
  const userKeys = concerned.map(({ userKey }) => userKey);
  const totals = await paidTotals(tx, { brandIds: [...counted.keys()], userKeys });
  const reached = totals.flatMap(({ brandId, userKey, claims, rwtEarned }): Unlocked[] =>
    reachedBy(counted.get(brandId) ?? [], { claims, rwt_earned: rwtEarned }).map((achievement) => ({
      ...{ brandId, userKey, achievement },
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
