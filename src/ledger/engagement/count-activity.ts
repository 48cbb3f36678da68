/** Counts what users did, and what they were paid, on their brand's leaderboards. */
import { sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import {
  type BoardMetric,
  boardMetrics,
  type CountedNode,
  countedMoves,
} from '../../rules/engagement/rank-tree.ts';
import type { Queries } from '../database/database.ts';
import { bulkInsert } from '../database/many-values.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brands } from '../schema/brands.ts';
import { leaderboardRanks, leaderboardScores, leaderboardUsers } from '../schema/engagement/leaderboards.ts';
import { type BoardPlace, boardsFor } from './boards.ts';

/** What a user did at a moment. Everything but the streak is added to what the boards of that moment have. */
export interface Activity extends BoardPlace {
  userKey: string;
  /** Whole RWT of rewards that are final. */
  rwtEarned?: number;
  /** Rewards that are final. */
  claims?: number;
  /** Check-ins and whatever else brands count as activity. */
  activity?: number;
  /** Days of the user's streak now: boards keep the longest. */
  streak?: number;
}

type Score = typeof leaderboardScores.$inferInsert;

/** A statement of this many rows stays far below the number of values that a statement takes. */
const ROWS_MAX = 2_000;

/**
 * Counts these on the boards of week, month and ever: those of all platforms, and those of the platform where one is
 * named. Rows are locked by board and user, then by board and range, so that commits of several processes wait for each
 * other in one order.
 */
export async function countActivity(tx: Queries, activities: Activity[]): Promise<void> {
  if (activities.length === 0) return;
  const boardsOf = await boardsFor(tx, activities);
  const gains = new Map<string, Score>();
  for (const one of activities) {
    for (const { id: boardId } of boardsOf(one)) {
      const key = scoreText({ boardId, userKey: one.userKey });
      const known = gains.get(key) ?? noScore(boardId, one.userKey);
      known.rwtEarned += one.rwtEarned ?? 0;
      known.claims += one.claims ?? 0;
      known.activity += one.activity ?? 0;
      known.streak = Math.max(known.streak, one.streak ?? 0);
      gains.set(key, known);
    }
  }
  await moveRanks(tx, await addScores(tx, gains));
}

const scoreText = (of: Pick<Score, 'boardId' | 'userKey'>) => `${of.boardId} ${of.userKey}`;
const noScore = (boardId: number, userKey: string): Score => ({
  boardId,
  userKey,
  rwtEarned: 0,
  claims: 0,
  activity: 0,
  streak: 0,
  streakBefore: 0,
});

/** How the scores of one board changed in one metric. */
interface Changes {
  boardId: number;
  metric: BoardMetric;
  moves: { before: number; after: number }[];
}

/** The score before a gain: sums lose it again, the longest streak is noted beside the new one. */
const before: Record<BoardMetric, (score: Score, gain: Score) => number> = {
  rwt_earned: (score, gain) => score.rwtEarned - gain.rwtEarned,
  claims: (score, gain) => score.claims - gain.claims,
  activity: (score, gain) => score.activity - gain.activity,
  streak: (score) => score.streakBefore,
};
const after: Record<BoardMetric, (score: Score) => number> = {
  rwt_earned: ({ rwtEarned }) => rwtEarned,
  claims: ({ claims }) => claims,
  activity: ({ activity }) => activity,
  streak: ({ streak }) => streak,
};

/** Adds to the users' scores and returns how they changed, board by board, in the metrics that these gains have. */
async function addScores(tx: Queries, gains: Map<string, Score>): Promise<Changes[]> {
  const ordered = [...gains.values()].sort(
    (a, b) => a.boardId - b.boardId || (a.userKey < b.userKey ? -1 : 1),
  );
  const metrics = boardMetrics.filter((metric) => ordered.some((gain) => after[metric](gain) !== 0));
  const boardIds = [...new Set(ordered.map(({ boardId }) => boardId))];
  const changes = new Map(
    boardIds.map((boardId) => [boardId, metrics.map((metric): Changes => ({ boardId, metric, moves: [] }))]),
  );
  for (let from = 0; from < ordered.length; from += ROWS_MAX) {
    for (const score of await writeScores(tx, ordered.slice(from, from + ROWS_MAX))) {
      const gain = gains.get(scoreText(score));
      if (!gain) throw new Error('a leaderboard gave a score that nobody wrote');
      for (const { metric, moves } of changes.get(score.boardId) ?? [])
        moves.push({ before: before[metric](score, gain), after: after[metric](score) });
    }
  }
  return [...changes.values()].flat();
}

const { rwtEarned, claims, activity, streak } = leaderboardScores;
const writeScores = bulkInsert(leaderboardScores, (insert) =>
  insert
    .onConflictDoUpdate({
      target: [leaderboardScores.boardId, leaderboardScores.userKey],
      set: {
        rwtEarned: sql`${rwtEarned} + excluded.rwt_earned`,
        claims: sql`${claims} + excluded.claims`,
        activity: sql`${activity} + excluded.activity`,
        streakBefore: sql`${streak}`,
        streak: sql`case when excluded.streak > ${streak} then excluded.streak else ${streak} end`,
      },
    })
    .returning(),
);

/** Moves users between the ranges of scores; the changes come in the order of their boards. */
async function moveRanks(tx: Queries, changes: Changes[]): Promise<void> {
  const rows: (CountedNode & { boardId: number; metric: BoardMetric })[] = [];
  for (const { boardId, metric, moves } of changes) {
    const nodes = countedMoves(moves).sort((a, b) => a.level - b.level || a.node - b.node);
    rows.push(...nodes.map((node) => ({ boardId, metric, ...node })));
  }
  for (let from = 0; from < rows.length; from += ROWS_MAX)
    await writeRanks(tx, rows.slice(from, from + ROWS_MAX));
}

const { boardId, metric, level, node, users } = leaderboardRanks;
const writeRanks = bulkInsert(leaderboardRanks, (insert) =>
  insert.onConflictDoUpdate({
    target: [boardId, metric, level, node],
    set: { users: sql`${users} + excluded.users` },
  }),
);

/** Keeps how a user is shown on the brand's boards; a name that is not given stays as it was. */
export async function nameBoardUser(
  tx: Queries,
  user: {
    brandId: BoardPlace['brandId'];
    userKey: string;
    platform: string;
    displayName?: string | undefined;
  },
): Promise<void> {
  const { displayName = null, ...known } = user;
  await tx
    .insert(leaderboardUsers)
    .values({ ...known, displayName })
    .onConflictDoUpdate({
      target: [leaderboardUsers.brandId, leaderboardUsers.userKey],
      set: displayName === null ? { platform: known.platform } : { platform: known.platform, displayName },
    });
}

// Counts paid rewards on the leaderboards, and takes them off again.

/** What a board has to know of a reward. */
interface CountedReward {
  brandId: string;
  userKey: string;
  amount: number;
  createdAt: number;
  platform: string | null;
}

/** Counts each of these once, or with -1 takes each off the boards that count it. */
export async function countPaidRewards(tx: Queries, paid: CountedReward[], times: 1 | -1): Promise<void> {
  if (paid.length === 0) return;
  const zones = await timeZonesOf(tx, [...new Set(paid.map((reward) => reward.brandId))]);
  await countActivity(
    tx,
    paid.map((reward) => ({
      brandId: reward.brandId as BrandId,
      userKey: reward.userKey,
      platform: reward.platform ?? undefined,
      atMs: reward.createdAt,
      timeZone: zones.get(reward.brandId) ?? 'UTC',
      rwtEarned: times * reward.amount,
      claims: times,
    })),
  );
}

async function timeZonesOf(tx: Queries, brandIds: string[]): Promise<Map<string, string | undefined>> {
  const rows = await profilesOf(tx, { brandIds });
  return new Map(rows.map((row) => [row.brandId, row.profile.timeZone]));
}

const profilesOf = preparedQuery((db, of: Of<{ brandIds: string[] }>) =>
  db
    .select({ brandId: brands.brandId, profile: brands.profile })
    .from(brands)
    .where(isOneOf(brands.brandId, of.brandIds)),
);
