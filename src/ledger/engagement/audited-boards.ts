/** Reads leaderboards in pages, with the rewards and reports behind them, to count them again. */
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { BoardMetric, CountedNode } from '../../rules/engagement/rank-tree.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, statement } from '../database/statement.ts';
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

const usersAfter = statement((db, of: Of<{ boardId: number; after: string; limit: number }>) => {
  const { boardId, userKey } = leaderboardScores;
  return db
    .select({ userKey })
    .from(leaderboardScores)
    .where(and(eq(boardId, of.boardId), gt(userKey, of.after)))
    .orderBy(asc(userKey))
    .limit(of.limit);
});

/** What these users have on these boards. */
export const scoresOn = statement((db, of: Of<{ boardIds: number[]; userKeys: string[] }>) => {
  const { boardId, userKey } = leaderboardScores;
  return db
    .select()
    .from(leaderboardScores)
    .where(and(isOneOf(boardId, of.boardIds), isOneOf(userKey, of.userKeys)));
});

/** What these users of a brand earned that boards have counted: rewards, and what was reported of RWT from elsewhere. */
export async function earnedBy(db: Queries, of: { brandId: BrandId; userKeys: string[] }) {
  return { paid: await countedRewards(db, of), reported: await reportsOf(db, of) };
}

type OfUsers = Of<{ brandId: BrandId; userKeys: string[] }>;

const countedRewards = statement((db, of: OfUsers) => {
  const { userKey, amount, createdAt, platform, brandId, failure, transactionId } = rewards;
  return db
    .select({ userKey, amount, createdAt, platform })
    .from(rewards)
    .innerJoin(transactions, eq(transactions.id, transactionId))
    .where(
      and(
        isOneOf(userKey, of.userKeys),
        eq(brandId, of.brandId),
        eq(transactions.onBoards, true),
        isNull(failure),
      ),
    );
});

const reportsOf = statement((db, of: OfUsers) => {
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
