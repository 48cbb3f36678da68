/** What brands' clients reported of users: activity on chat platforms, added up, and RWT earned elsewhere. */
import { and, eq, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { ActivityKind } from '../../rules/engagement/activity-kind.ts';
import type { Queries } from '../database/database.ts';
import { leaderboardReports } from '../schema/engagement/leaderboards.ts';
import { userActivity } from '../schema/engagement/user-progress.ts';

interface BrandUser {
  brandId: BrandId;
  userKey: string;
}

const nothing = { messages: 0, voiceMinutes: 0, reactions: 0 };

/** Adds in the statement itself, so that reports of several processes lose nothing. */
export async function addUserActivity(
  tx: Queries,
  { kind, count, ...of }: BrandUser & { kind: ActivityKind; count: number },
): Promise<void> {
  await tx
    .insert(userActivity)
    .values({ ...of, ...nothing, [kind]: count })
    .onConflictDoUpdate({
      target: [userActivity.brandId, userActivity.userKey],
      set: { [kind]: sql`${userActivity[kind]} + ${count}` },
    });
}

/** Zeros of a user of whom nothing was reported. */
export async function readUserActivity(db: Queries, of: BrandUser): Promise<Record<ActivityKind, number>> {
  const { brandId, userKey, messages, voiceMinutes, reactions } = userActivity;
  const [row] = await db
    .select({ messages, voiceMinutes, reactions })
    .from(userActivity)
    .where(and(eq(brandId, of.brandId), eq(userKey, of.userKey)));
  return row ?? nothing;
}

/** Reports of RWT that users earned elsewhere: the trace of every score that no reward of this ledger explains. */
export async function recordReport(
  tx: Queries,
  report: typeof leaderboardReports.$inferInsert,
): Promise<void> {
  await tx.insert(leaderboardReports).values(report);
}
