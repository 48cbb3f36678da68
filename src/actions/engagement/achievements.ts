/** Achievements: how far a user is with each of a brand's, reports of progress, and what unlocks them. */
import { findBrand } from '../../ledger/brands/brands.ts';
import {
  atMs,
  type BusinessTime,
  type Database,
  type Queries,
  readTime,
} from '../../ledger/database/database.ts';
import {
  markUnlocked,
  paidTotals,
  readAchievements,
  reportProgress,
  stillLocked,
  type Unlocked,
} from '../../ledger/engagement/achievements.ts';
import { longestStreak } from '../../ledger/engagement/streaks.ts';
import { tellUnlocks } from '../../ledger/webhooks/queue-events.ts';
import type { Random } from '../../lib/ids.ts';
import {
  type Achievement,
  type AchievementMetric,
  type AchievementValues,
  achievementsOf,
  reachedBy,
} from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { admitWrite, type WriteRefusal, type Writer } from './admit-write.ts';

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

// Takes a client's report of a user's progress towards an achievement that nothing else counts.

interface ReportDeps {
  database: Database;
  businessTime: BusinessTime;
  random: Pick<Random, 'uuid'>;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
}

export interface ProgressReport {
  brandId: BrandId;
  userKey: string;
  achievementType: string;
  change: { to: number } | { by: number };
  writer: Writer;
}

export type ReportRefusal =
  | WriteRefusal
  | { code: 'achievement_not_found'; achievementType: string; known: string[] }
  | { code: 'achievement_is_counted'; achievementType: string; metric: AchievementMetric };

export interface Progress {
  currentProgress: number;
  isUnlocked: boolean;
  /** What this report unlocked. */
  unlocked: { achievementType: string; name: string; unlockedAtMs: number }[];
}

export async function takeProgressReport(
  deps: ReportDeps,
  { brandId, userKey, achievementType, change, writer }: ProgressReport,
): Promise<Progress | { refusal: ReportRefusal }> {
  const { database, ownHosts } = deps;
  const admitted = await admitWrite(database.db, { brandId, writer, ownHosts });
  if ('refusal' in admitted) return admitted;
  const achievements = achievementsOf(admitted.brand.profile);
  const known = achievements.find(({ type }) => type === achievementType);
  if (!known) {
    const types = achievements.filter(isReported).map(({ type }) => type);
    return { refusal: { code: 'achievement_not_found', achievementType, known: types } };
  }
  if (!isReported(known))
    return { refusal: { code: 'achievement_is_counted', achievementType, metric: known.metric } };
  return database.atomically(async (tx) => {
    const nowMs = await readTime({ db: tx, now: deps.businessTime() });
    const of = { brandId, userKey };
    const currentProgress = await reportProgress(tx, { ...of, achievementType, change });
    const values = { manual: currentProgress };
    const unlocked = await unlockReached(deps, tx, { ...of, achievements: [known], values, nowMs });
    const row = (await readAchievements(tx, of)).get(achievementType);
    return {
      currentProgress,
      isUnlocked: row?.unlockedAt != null,
      unlocked: unlocked.map(() => ({ achievementType, name: known.name, unlockedAtMs: nowMs })),
    };
  });
}

const isReported = ({ metric }: Achievement) => metric === 'manual';

// Unlocks the achievements that a user has reached by something other than rewards, in the commit that makes it true.

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
