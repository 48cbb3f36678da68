/** Reads leaderboards: the first users, any user's scores, and the rank of any score without counting users. */
import { and, desc, eq, gt, gte, inArray, lte, or, sql } from 'drizzle-orm';
import {
  type BoardMetric,
  boardMetrics,
  type CountedNode,
  rangesBeside,
  rankOf,
  TOP_LEVEL,
} from '../../rules/engagement/rank-tree.ts';
import type { Queries } from '../database/database.ts';
import { leaderboardRanks, leaderboardScores, leaderboardUsers } from '../schema/engagement/leaderboards.ts';

/** The column of a metric, and the condition of the index over it, whose 0 the databases want to see written out. */
const columns = {
  rwt_earned: { score: leaderboardScores.rwtEarned, counts: sql`${leaderboardScores.rwtEarned} > 0` },
  activity: { score: leaderboardScores.activity, counts: sql`${leaderboardScores.activity} > 0` },
  streak: { score: leaderboardScores.streak, counts: sql`${leaderboardScores.streak} > 0` },
  claims: { score: leaderboardScores.claims, counts: sql`${leaderboardScores.claims} > 0` },
};

export interface Ranking {
  boardId: number;
  metric: BoardMetric;
}
export interface UserScore {
  userKey: string;
  score: number;
}

/**
 * The users with the highest scores, highest first; users with equal scores are ordered by their keys, the last key first.
 * The index has scores without keys, so that new users do not each need a page of it. Where many users share the lowest
 * score that still makes the list, a second query picks those of them who are on it.
 */
export async function firstOf(db: Queries, of: Ranking & { limit: number }): Promise<UserScore[]> {
  const { score, counts } = columns[of.metric];
  const { boardId, userKey } = leaderboardScores;
  const onBoard = and(eq(boardId, of.boardId), counts);
  const [last] = await db
    .select({ score })
    .from(leaderboardScores)
    .where(onBoard)
    .orderBy(desc(score))
    .limit(1)
    .offset(of.limit - 1);
  const above = await db
    .select({ userKey, score })
    .from(leaderboardScores)
    .where(and(onBoard, gt(score, last?.score ?? 0)))
    .orderBy(desc(score), desc(userKey))
    .limit(of.limit);
  const missing = of.limit - above.length;
  return last && missing > 0
    ? [...above, ...(await lastNamed(db, { ...of, ...last, limit: missing }))]
    : above;
}

/** Of the users with exactly this score, those whose keys come last. */
async function lastNamed(db: Queries, of: Ranking & { score: number; limit: number }): Promise<UserScore[]> {
  const { score, counts } = columns[of.metric];
  const { boardId, userKey } = leaderboardScores;
  const { ties, users } = await countTies(db, of);
  // Either all of them are read and sorted, or users by their keys until enough of them have the score.
  const isSorted = ties * ties <= of.limit * users;
  const isTie = isSorted
    ? and(counts, gte(score, of.score), lte(score, of.score))
    : sql`${score} + 0 = ${of.score}`;
  return db
    .select({ userKey, score })
    .from(leaderboardScores)
    .where(and(eq(boardId, of.boardId), isTie))
    .orderBy(desc(userKey))
    .limit(of.limit);
}

/** How many users have this score; `users`: at least as many as have any on the board. */
async function countTies(db: Queries, of: Ranking & { score: number }) {
  const { boardId, metric, level, node, users } = leaderboardRanks;
  const onBoard = eq(boardId, of.boardId);
  const [tied] = await db
    .select({ users })
    .from(leaderboardRanks)
    .where(and(onBoard, eq(metric, of.metric), eq(level, 0), eq(node, of.score)));
  const all = await db
    .select({ users })
    .from(leaderboardRanks)
    .where(and(onBoard, inArray(metric, boardMetrics), eq(level, TOP_LEVEL)));
  return { ties: tied?.users ?? 0, users: all.reduce((sum, row) => sum + row.users, 0) };
}

/** What these users have on a board; a user without a score is left out. */
export async function scoresOf(
  db: Queries,
  of: Ranking & { userKeys: string[] },
): Promise<Map<string, number>> {
  if (of.userKeys.length === 0) return new Map();
  const { score } = columns[of.metric];
  // Without a condition on the score: with it, SQLite takes the index over scores and reads the whole board.
  const rows = await db
    .select({ userKey: leaderboardScores.userKey, score })
    .from(leaderboardScores)
    .where(and(eq(leaderboardScores.boardId, of.boardId), inArray(leaderboardScores.userKey, of.userKeys)));
  return new Map(rows.filter((row) => row.score > 0).map((row) => [row.userKey, row.score]));
}

/** Ranges that one statement names; SQLite takes conditions of limited depth. */
const RANGES_MAX = 100;

/** The rank of each of these scores; equal scores have equal ranks. */
export async function ranksOf(db: Queries, of: Ranking & { scores: number[] }): Promise<Map<number, number>> {
  const { boardId, metric, level, node, users } = leaderboardRanks;
  const ranges = rangesBeside(of.scores);
  const nodes: CountedNode[] = [];
  for (let from = 0; from < ranges.length; from += RANGES_MAX) {
    const some = ranges.slice(from, from + RANGES_MAX);
    nodes.push(
      ...(await db
        .select({ level, node, users })
        .from(leaderboardRanks)
        .where(
          // Each range names the whole key, so that both databases find it in the index.
          or(
            ...some.map((range) =>
              and(
                eq(boardId, of.boardId),
                eq(metric, of.metric),
                eq(level, range.level),
                gte(node, range.first),
                lte(node, range.last),
              ),
            ),
          ),
        )),
    );
  }
  return new Map(of.scores.map((score) => [score, rankOf(score, nodes)]));
}

/** How many users have a score on a board. */
export async function usersOn(db: Queries, of: Ranking): Promise<number> {
  const { boardId, metric, level, users } = leaderboardRanks;
  const rows = await db
    .select({ users })
    .from(leaderboardRanks)
    .where(and(eq(boardId, of.boardId), eq(metric, of.metric), eq(level, TOP_LEVEL)));
  return rows.reduce((sum, row) => sum + row.users, 0);
}

/** How these users of a brand are shown; a user of whom nobody said anything is left out. */
export async function boardUsers(db: Queries, of: { brandId: `0x${string}`; userKeys: string[] }) {
  if (of.userKeys.length === 0) return new Map();
  const rows = await db
    .select()
    .from(leaderboardUsers)
    .where(and(eq(leaderboardUsers.brandId, of.brandId), inArray(leaderboardUsers.userKey, of.userKeys)));
  return new Map(rows.map((row) => [row.userKey, row]));
}
