/** Reads leaderboards in pages, with the rewards and reports behind them, to count them again. */
import { and, asc, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { BoardMetric, CountedNode } from '../../rules/engagement/rank-tree.ts';
import type { Queries } from '../database/database.ts';
import { inChunks } from '../database/in-chunks.ts';
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
export async function boardPage(db: Queries, page: { boardId: number; after: string; limit: number }) {
  const { boardId, userKey } = leaderboardScores;
  const rows = await db
    .select({ userKey })
    .from(leaderboardScores)
    .where(and(eq(boardId, page.boardId), gt(userKey, page.after)))
    .orderBy(asc(userKey))
    .limit(page.limit);
  return rows.map((row) => row.userKey);
}

/** What these users have on these boards. */
export const scoresOn = (db: Queries, of: { boardIds: number[]; userKeys: string[] }) =>
  inChunks(of.userKeys, (some) =>
    db
      .select()
      .from(leaderboardScores)
      .where(and(inArray(leaderboardScores.boardId, of.boardIds), inArray(leaderboardScores.userKey, some))),
  );

/** What these users of a brand earned that boards have counted: rewards, and what was reported of RWT from elsewhere. */
export async function earnedBy(db: Queries, of: { brandId: BrandId; userKeys: string[] }) {
  const { userKey, amount, createdAt, platform } = rewards;
  const paid = await inChunks(of.userKeys, (some) =>
    db
      .select({ userKey, amount, createdAt, platform })
      .from(rewards)
      .innerJoin(transactions, eq(transactions.id, rewards.transactionId))
      .where(
        and(
          inArray(userKey, some),
          eq(rewards.brandId, of.brandId),
          eq(transactions.onBoards, true),
          isNull(rewards.failure),
        ),
      ),
  );
  const reported = await inChunks(of.userKeys, (some) =>
    db
      .select({
        userKey: leaderboardReports.userKey,
        amount: leaderboardReports.amount,
        createdAt: leaderboardReports.createdAt,
        platform: leaderboardReports.platform,
      })
      .from(leaderboardReports)
      .where(and(inArray(leaderboardReports.userKey, some), eq(leaderboardReports.brandId, of.brandId))),
  );
  return { paid, reported };
}

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
