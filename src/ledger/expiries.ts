/** What ends ahead by itself, in tables of all rooms: what an emulator's clock meets on its way. Each the earliest first. */
import { and, asc, desc, eq, gt, isNotNull, lte, sql } from 'drizzle-orm';
import type { Queries, TimeRange } from './database/database.ts';
import { brandKeys } from './schema/brands.ts';
import { constraintResults } from './schema/engagement/constraints.ts';
import { leaderboards } from './schema/engagement/leaderboards.ts';
import { streaks } from './schema/engagement/user-progress.ts';
import { brandSpending } from './schema/rewards.ts';

/** In each row: how many end in all, beyond the range's limit too. */
const total = sql<number>`count(*) over ()`.mapWith(Number);
/** What brands' servers said about buyers. */
export const constraintResultsEnding = (db: Queries, range: TimeRange) =>
  db
    .select({
      atMs: constraintResults.expiresAt,
      url: constraintResults.url,
      userAddress: constraintResults.userAddress,
      total,
    })
    .from(constraintResults)
    .where(
      and(
        isNotNull(constraintResults.isMet),
        gt(constraintResults.expiresAt, range.afterMs),
        lte(constraintResults.expiresAt, range.untilMs),
      ),
    )
    .orderBy(asc(constraintResults.expiresAt))
    .limit(range.limit);

/** Keys of brands that were rotated. */
export const brandKeysEnding = (db: Queries, range: TimeRange) =>
  db
    .select({
      atMs: sql<number>`${brandKeys.expiresAt}`.mapWith(Number),
      keyId: brandKeys.keyId,
      brandId: brandKeys.brandId,
      total,
    })
    .from(brandKeys)
    .where(and(gt(brandKeys.expiresAt, range.afterMs), lte(brandKeys.expiresAt, range.untilMs)))
    .orderBy(asc(brandKeys.expiresAt))
    .limit(range.limit);

/** Windows of the limits of what a brand's events may earn; `spanMs`: how long one of `span` lasts. */
export const spendingEnding = (
  db: Queries,
  { span, spanMs, ...range }: TimeRange & { span: 'hour' | 'day'; spanMs: number },
) =>
  db
    .select({
      atMs: sql<number>`${brandSpending.startedAt} + ${spanMs}`.mapWith(Number),
      brandId: brandSpending.brandId,
      spent: brandSpending.spent,
      total,
    })
    .from(brandSpending)
    .where(
      and(
        eq(brandSpending.span, span),
        gt(brandSpending.startedAt, range.afterMs - spanMs),
        lte(brandSpending.startedAt, range.untilMs - spanMs),
      ),
    )
    .orderBy(asc(brandSpending.startedAt))
    .limit(range.limit);

/** Leaderboards of all platforms whose window ends. */
export const boardsEnding = (db: Queries, range: TimeRange) =>
  db
    .select({
      atMs: leaderboards.endsAt,
      brandId: leaderboards.brandId,
      period: leaderboards.period,
      total,
    })
    .from(leaderboards)
    .where(
      and(
        eq(leaderboards.platform, ''),
        gt(leaderboards.endsAt, range.afterMs),
        lte(leaderboards.endsAt, range.untilMs),
      ),
    )
    .orderBy(asc(leaderboards.endsAt))
    .limit(range.limit);

/** Streaks that may be alive, the latest activity first. */
export const recentStreaks = (db: Queries, { limit }: { limit: number }) =>
  db.select().from(streaks).where(gt(streaks.current, 0)).orderBy(desc(streaks.lastAt)).limit(limit);
