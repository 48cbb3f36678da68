/** Reads leaderboards in pages, with the rewards and reports behind them, to count them again. */
import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { BoardMetric, CountedNode } from '../../rules/engagement/rank-tree.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import {
  leaderboardRanks,
  leaderboardReports,
  leaderboardScores,
  leaderboards,
} from '../schema/engagement/leaderboards.ts';
import { rewards } from '../schema/rewards.ts';
import { transactions } from '../schema/transactions.ts';

/** The boards that have scores, by brand. */
export const openBoards = (db: Queries) =>
  db
    .select()
    .from(leaderboards)
    .where(eq(leaderboards.closed, false))
    .orderBy(asc(leaderboards.brandId), asc(leaderboards.id));

/** Users of a board after `after`. */
export async function boardPage(
  db: Queries,
  page: { boardId: number; after: string; limit: number },
): Promise<string[]> {
  const rows = await usersAfter(db, page);
  return rows.map(({ userKey }) => userKey);
}

const usersAfter = preparedQuery((db, of: Of<{ boardId: number; after: string; limit: number }>) => {
  const { boardId, userKey } = leaderboardScores;
  return db
    .select({ userKey })
    .from(leaderboardScores)
    .where(and(eq(boardId, of.boardId), gt(userKey, of.after)))
    .orderBy(asc(userKey))
    .limit(of.limit);
});

/** What these users have on these boards. */
export const scoresOn = preparedQuery((db, of: Of<{ boardIds: number[]; userKeys: string[] }>) => {
  const { boardId, userKey } = leaderboardScores;
  return db
    .select()
    .from(leaderboardScores)
    .where(and(isOneOf(boardId, of.boardIds), isOneOf(userKey, of.userKeys)));
});

/** What says whether boards have counted a reward. */
interface RewardRow {
  sequence: number;
  feedPosition: number | null;
  failure: string | null;
}

/** What these users of a brand earned that boards have counted: rewards, and what was reported of RWT from elsewhere. */
export async function earnedBy(
  db: Queries,
  of: { brandId: BrandId; userKeys: string[]; isCounted: (row: RewardRow) => boolean },
) {
  const { isCounted, ...users } = of;
  const rows = await rewardsOfUsers(db, users);
  return { paid: rows.filter(isCounted), reported: await reportsOf(db, users) };
}

type OfUsers = Of<{ brandId: BrandId; userKeys: string[] }>;

const rewardsOfUsers = preparedQuery((db, of: OfUsers) => {
  const { userKey, amount, createdAt, platform, brandId, failure, sequence, transactionId } = rewards;
  return (
    db
      .select({
        userKey,
        amount,
        createdAt,
        platform,
        failure,
        sequence,
        feedPosition: transactions.feedPosition,
      })
      .from(rewards)
      // A reward whose payout was taken back may wait without a transaction.
      .leftJoin(transactions, eq(transactions.id, transactionId))
      .where(and(isOneOf(userKey, of.userKeys), eq(brandId, of.brandId)))
  );
});

const reportsOf = preparedQuery((db, of: OfUsers) => {
  const { userKey, amount, createdAt, platform, brandId } = leaderboardReports;
  return db
    .select({ userKey, amount, createdAt, platform })
    .from(leaderboardReports)
    .where(and(isOneOf(userKey, of.userKeys), eq(brandId, of.brandId)));
});

interface RankPlace {
  metric: BoardMetric;
  level: number;
  node: number;
}

/** The counters of a board after `after`, in the order of their key. */
export const rankPage = (
  db: Queries,
  page: { boardId: number; after: RankPlace | undefined; limit: number },
): Promise<(CountedNode & { metric: BoardMetric })[]> => {
  const { boardId, metric, level, node, users } = leaderboardRanks;
  const { after } = page;
  return db
    .select({ metric, level, node, users })
    .from(leaderboardRanks)
    .where(
      and(
        eq(boardId, page.boardId),
        after && sql`(${metric}, ${level}, ${node}) > (${after.metric}, ${after.level}, ${after.node})`,
      ),
    )
    .orderBy(asc(metric), asc(level), asc(node))
    .limit(page.limit);
};
