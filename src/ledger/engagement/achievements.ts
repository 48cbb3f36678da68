/** Achievements of users: progress that clients report, and unlocks, by reports or by rewards, each of which happens once. */
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { type Achievement, achievementsOf, PROGRESS_MAX, reachedBy } from '../../rules/brands/achievement.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/many-values.ts';
import { brands } from '../schema/brands.ts';
import { achievementProgress } from '../schema/engagement/user-progress.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';

type AchievementRow = typeof achievementProgress.$inferSelect;

/** A user of a brand. */
interface BrandUser {
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
interface PaidTotal extends BrandUser {
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

// Unlocks the achievements that users have reached by rewards which blocks show as paid.

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
