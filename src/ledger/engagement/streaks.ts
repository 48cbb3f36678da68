/** Users' streaks and the milestones they claimed: the database counts a day once, and gives a bonus once. */
import { and, count, eq, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Streak } from '../../rules/engagement/streak.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { streakMilestones, streaks } from '../schema/engagement/user-progress.ts';
import { rewards } from '../schema/rewards.ts';

/** A streak of one user. */
export interface StreakKey {
  brandId: BrandId;
  userKey: string;
  streakType: string;
}

const ofKey = (table: typeof streaks, key: StreakKey) =>
  and(eq(table.brandId, key.brandId), eq(table.userKey, key.userKey), eq(table.streakType, key.streakType));

export async function findStreak(db: Queries, key: StreakKey): Promise<Streak | undefined> {
  const [row] = await db.select().from(streaks).where(ofKey(streaks, key));
  return row;
}

/** How many types of streaks a user has with a brand. */
export async function countStreakTypes(db: Queries, of: Omit<StreakKey, 'streakType'>): Promise<number> {
  const [row] = await db
    .select({ types: count() })
    .from(streaks)
    .where(and(eq(streaks.brandId, of.brandId), eq(streaks.userKey, of.userKey)));
  return row?.types ?? 0;
}

/** The most days in a row that a user has reached with a brand, in any type of streak. */
export async function longestStreak(db: Queries, of: Omit<StreakKey, 'streakType'>): Promise<number> {
  const [row] = await db
    .select({ days: sql<number>`coalesce(max(${streaks.longest}), 0)`.mapWith(Number) })
    .from(streaks)
    .where(and(eq(streaks.brandId, of.brandId), eq(streaks.userKey, of.userKey)));
  return row?.days ?? 0;
}

/** The streaks of one type of these users, under `<brandId> <userKey>`. */
export async function readStreaks(
  db: Queries,
  of: { brandIds: BrandId[]; userKeys: string[]; streakType: string },
): Promise<Map<string, Streak>> {
  const rows = await streaksOf(db, of);
  return new Map(rows.map((row) => [userText(row), row]));
}

const streaksOf = preparedQuery(
  (db, of: Of<{ brandIds: BrandId[]; userKeys: string[]; streakType: string }>) =>
    db
      .select()
      .from(streaks)
      .where(
        and(
          isOneOf(streaks.brandId, of.brandIds),
          isOneOf(streaks.userKey, of.userKeys),
          eq(streaks.streakType, of.streakType),
        ),
      ),
);

/** Text under which a brand's user is found in a map. */
export const userText = ({ brandId, userKey }: Omit<StreakKey, 'streakType'>) => `${brandId} ${userKey}`;

/** Writes a streak after an activity; false, and nothing written, when another activity of `after.lastDay` came first. */
export async function saveStreak(tx: Queries, key: StreakKey, after: Streak): Promise<boolean> {
  const { brandId, userKey, streakType } = key;
  const { current, longest, totalDays, lastDay, lastAt, graceUsed, daysSeen } = after;
  const changed = { current, longest, totalDays, lastDay, lastAt, graceUsed, daysSeen };
  const written = await tx
    .insert(streaks)
    .values({ brandId, userKey, streakType, ...changed })
    .onConflictDoUpdate({
      target: [streaks.brandId, streaks.userKey, streaks.streakType],
      set: changed,
      // One activity more than is stored: what was decided from an older row writes nothing.
      setWhere: sql`${streaks.lastDay} < excluded.last_day and ${streaks.totalDays} + 1 = excluded.total_days`,
    })
    .returning({ lastDay: streaks.lastDay });
  return written.length === 1;
}

/** The days of the milestones whose bonus a user has, under `aliases` too: a bonus whose reward failed for good can be claimed again. */
export async function claimedMilestones(
  db: Queries,
  key: StreakKey,
  aliases: readonly string[] = [],
): Promise<Set<number>> {
  const rows = await db
    .select({ days: streakMilestones.days })
    .from(streakMilestones)
    .leftJoin(rewards, eq(rewards.id, streakMilestones.rewardId))
    .where(
      and(
        eq(streakMilestones.brandId, key.brandId),
        inArray(streakMilestones.userKey, [key.userKey, ...aliases]),
        eq(streakMilestones.streakType, key.streakType),
        or(isNull(streakMilestones.rewardId), isNull(rewards.releasedAt)),
      ),
    );
  return new Set(rows.map(({ days }) => days));
}

/** Notes a claimed bonus; false, and nothing written, when the user has it. */
export async function takeMilestone(
  tx: Queries,
  claim: StreakKey & { days: number; bonus: number; rewardId: string | null; claimedAt: number },
): Promise<boolean> {
  const { bonus, rewardId, claimedAt } = claim;
  const failed = tx
    .select({ id: rewards.id })
    .from(rewards)
    .where(and(eq(rewards.id, streakMilestones.rewardId), isNotNull(rewards.releasedAt)));
  const written = await tx
    .insert(streakMilestones)
    .values(claim)
    .onConflictDoUpdate({
      target: [
        streakMilestones.brandId,
        streakMilestones.userKey,
        streakMilestones.streakType,
        streakMilestones.days,
      ],
      set: { bonus, rewardId, claimedAt },
      setWhere: sql`exists ${failed}`,
    })
    .returning({ days: streakMilestones.days });
  return written.length === 1;
}
