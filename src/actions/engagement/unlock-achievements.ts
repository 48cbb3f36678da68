/** Unlocks the achievements that a user has reached by something other than rewards, in the commit that makes it true. */
import { atMs, type Queries } from '../../ledger/database/database.ts';
import { markUnlocked, stillLocked, type Unlocked } from '../../ledger/engagement/achievements.ts';
import { tellUnlocks } from '../../ledger/webhooks/tell-unlocks.ts';
import type { Random } from '../../lib/ids.ts';
import { type Achievement, type AchievementValues, reachedBy } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

/** `values`: what the user has of the metrics of these achievements; `nowMs`: the ledger's time. Returns what was unlocked now, and tells the brand. */
export async function unlockReached(
  { random }: { random: Pick<Random, 'uuid'> },
  tx: Queries,
  user: {
    brandId: BrandId;
    userKey: string;
    achievements: readonly Achievement[];
    values: AchievementValues;
    nowMs: number;
  },
): Promise<Unlocked[]> {
  const { brandId, userKey, achievements, values, nowMs } = user;
  const reached = reachedBy(achievements, values).map(
    (achievement): Unlocked => ({
      brandId,
      userKey,
      achievement,
      progress: values[achievement.metric] ?? 0,
    }),
  );
  const unlocked = await markUnlocked(tx, { reached: await stillLocked(tx, reached), nowMs });
  await tellUnlocks(tx, { unlocked, newId: () => random.uuid(), now: atMs(nowMs) });
  return unlocked;
}
