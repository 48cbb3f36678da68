/** Counts paid rewards on the leaderboards, and takes them off again. */
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brands } from '../schema/brands.ts';
import { countActivity } from './count-activity.ts';

/** What a board has to know of a reward. */
export interface CountedReward {
  brandId: string;
  userKey: string;
  amount: number;
  createdAt: number;
  platform: string | null;
}

/** Counts each of these once, or with -1 takes each off the boards that count it. */
export async function countPaidRewards(tx: Queries, paid: CountedReward[], times: 1 | -1): Promise<void> {
  if (paid.length === 0) return;
  const zones = await timeZonesOf(tx, [...new Set(paid.map((reward) => reward.brandId))]);
  await countActivity(
    tx,
    paid.map((reward) => ({
      brandId: reward.brandId as BrandId,
      userKey: reward.userKey,
      platform: reward.platform ?? undefined,
      atMs: reward.createdAt,
      timeZone: zones.get(reward.brandId) ?? 'UTC',
      rwtEarned: times * reward.amount,
      claims: times,
    })),
  );
}

async function timeZonesOf(tx: Queries, brandIds: string[]): Promise<Map<string, string | undefined>> {
  const rows = await profilesOf(tx, { brandIds });
  return new Map(rows.map((row) => [row.brandId, row.profile.timeZone]));
}

const profilesOf = preparedQuery((db, of: Of<{ brandIds: string[] }>) =>
  db
    .select({ brandId: brands.brandId, profile: brands.profile })
    .from(brands)
    .where(isOneOf(brands.brandId, of.brandIds)),
);
