/** Achievements of users: progress that clients report, and unlocks, each of which happens once. */
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { type Achievement, PROGRESS_MAX } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
import { achievementProgress } from '../schema/engagement/achievements.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';

export type AchievementRow = typeof achievementProgress.$inferSelect;

/** A user of a brand. */
export interface BrandUser {
  brandId: BrandId;
  userKey: string;
}

/** An achievement that a user has reached in this commit. */
export interface Unlocked extends BrandUser {
  achievement: Achievement;
  /** What the user has of its metric. */
  progress: number;
}

const { brandId, userKey, achievementType, progress, unlockedAt } = achievementProgress;

/** What the ledger knows of a user's achievements, by type. */
export async function readAchievements(db: Queries, of: BrandUser): Promise<Map<string, AchievementRow>> {
  const rows = await db
    .select()
    .from(achievementProgress)
    .where(and(eq(brandId, of.brandId), eq(userKey, of.userKey)));
  return new Map(rows.map((row) => [row.achievementType, row]));
}

/** Unlocks these, and returns those that were not unlocked before: of two processes, one. */
export async function markUnlocked(
  tx: Queries,
  { reached, nowMs }: { reached: Unlocked[]; nowMs: number },
): Promise<Unlocked[]> {
  // In one order, so that two processes wait for each other instead of deadlocking.
  const ordered = reached
    .map((one) => ({ one, key: unlockText({ ...one, achievementType: one.achievement.type }) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const marked = await inChunks(ordered, (some) =>
    tx
      .insert(achievementProgress)
      .values(
        some.map(({ one }) => ({
          brandId: one.brandId,
          userKey: one.userKey,
          achievementType: one.achievement.type,
          progress: Math.min(one.progress, PROGRESS_MAX),
          unlockedAt: nowMs,
          unlockedBy: one.achievement.metric,
        })),
      )
      .onConflictDoUpdate({
        target: [brandId, userKey, achievementType],
        set: { unlockedAt: nowMs, unlockedBy: sql`excluded.unlocked_by`, progress: sql`excluded.progress` },
        setWhere: isNull(unlockedAt),
      })
      .returning({ brandId, userKey, achievementType }),
  );
  const keys = new Set(marked.map(unlockText));
  return ordered.filter(({ key }) => keys.has(key)).map(({ one }) => one);
}

const unlockText = (of: BrandUser & { achievementType: string }) =>
  `${of.brandId} ${of.userKey} ${of.achievementType}`;

/** Those of these achievements that are not unlocked yet. */
export async function stillLocked(db: Queries, reached: Unlocked[]): Promise<Unlocked[]> {
  if (reached.length === 0) return [];
  const brandIds = [...new Set(reached.map((one) => one.brandId))];
  const known = await inChunks([...new Set(reached.map((one) => one.userKey))], (some) =>
    db
      .select({ brandId, userKey, achievementType })
      .from(achievementProgress)
      .where(and(inArray(brandId, brandIds), inArray(userKey, some), isNotNull(unlockedAt))),
  );
  const keys = new Set(known.map(unlockText));
  return reached.filter((one) => !keys.has(unlockText({ ...one, achievementType: one.achievement.type })));
}

/** Sets a user's progress, or adds to it, never above `PROGRESS_MAX`; returns what it is now. */
export async function reportProgress(
  tx: Queries,
  report: BrandUser & { achievementType: string; change: { to: number } | { by: number } },
): Promise<number> {
  const { change, ...of } = report;
  const by = 'by' in change ? change.by : change.to;
  const sum = sql`${progress} + ${by}`;
  const capped = sql`case when ${sum} > ${PROGRESS_MAX} then ${PROGRESS_MAX} else ${sum} end`;
  const [row] = await tx
    .insert(achievementProgress)
    .values({ ...of, progress: by, unlockedAt: null })
    .onConflictDoUpdate({
      target: [brandId, userKey, achievementType],
      set: { progress: 'by' in change ? capped : by },
    })
    .returning({ progress });
  if (!row) throw new Error('progress was reported and is not there');
  return row.progress;
}

/** What a block has paid a user of a brand. */
export interface PaidTotal extends BrandUser {
  claims: number;
  rwtEarned: number;
}

/** What blocks have paid these users, brand by brand; a user whom a brand never paid is left out. */
export const paidTotals = (
  db: Queries,
  of: { brandIds: BrandId[]; userKeys: string[] },
): Promise<PaidTotal[]> =>
  inChunks([...new Set(of.userKeys)], (some) =>
    db
      .select({
        brandId: rewards.brandId,
        userKey: rewards.userKey,
        claims: sql<number>`count(*)`.mapWith(Number),
        rwtEarned: sql<number>`sum(${rewards.amount})`.mapWith(Number),
      })
      .from(rewards)
      .innerJoin(transactions, eq(transactions.id, rewards.transactionId))
      .where(
        and(
          inArray(rewards.userKey, some),
          inArray(rewards.brandId, of.brandIds),
          isNull(rewards.failure),
          eq(transactions.outcome, 'done'),
        ),
      )
      .groupBy(rewards.brandId, rewards.userKey),
  );
