/** Takes a client's report of a user's progress towards an achievement that nothing else counts. */
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import { readTime } from '../../ledger/database/read-time.ts';
import { readAchievements, reportProgress } from '../../ledger/engagement/achievements.ts';
import type { Random } from '../../lib/ids.ts';
import { type Achievement, type AchievementMetric, achievementsOf } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { admitWrite, type WriteRefusal, type Writer } from './admit-write.ts';
import { unlockReached } from './unlock-achievements.ts';

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
