/** Reads a leaderboard: its first users, and the place of one user, each with the places gained since the window before. */
import { readBrandsAndTime } from '../../ledger/brands/brands.ts';
import type { BusinessTime, Database, Queries } from '../../ledger/database/database.ts';
import { type Board, boardAt, boardEndedBefore, EVERY_PLATFORM } from '../../ledger/engagement/boards.ts';
import {
  boardUsers,
  firstOf,
  type Ranking,
  ranksOf,
  scoresOf,
  type UserScore,
  usersOn,
} from '../../ledger/engagement/ranks.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { formattedScore, maskedUser, nameOfUser } from '../../rules/engagement/board-entry.ts';
import type { BoardPeriod } from '../../rules/engagement/board-window.ts';
import type { BoardMetric } from '../../rules/engagement/rank-tree.ts';

export interface WantedLeaderboard {
  brandId: BrandId;
  metric: BoardMetric;
  period: BoardPeriod;
  /** Undefined: all platforms together. */
  platform: string | undefined;
  limit: number;
  /** The user whose own place is wanted. */
  userKey: string | undefined;
  /** The brand's own server asks: it sees its users' e-mails. */
  withBrandKey: boolean;
}

export interface LeaderboardEntry {
  /** Users with equal scores have equal ranks. */
  rank: number;
  userIdentifier: string;
  userId: string;
  username: string;
  displayName: string;
  platform: string;
  value: number;
  formattedValue: string;
  /** Places gained since the window before; 0 without one, or where the user was not on its board. */
  change: number;
}

export interface Leaderboard {
  entries: LeaderboardEntry[];
  /** How many users are on the board. */
  total: number;
  /** Undefined for a user who is not on it. */
  own: LeaderboardEntry | undefined;
  nowMs: number;
}

/** Undefined when the brand does not exist. */
export async function readLeaderboard(
  { database: { db }, businessTime }: { database: Database; businessTime: BusinessTime },
  wanted: WantedLeaderboard,
): Promise<Leaderboard | undefined> {
  const { brandId, metric, period, platform = EVERY_PLATFORM, limit, userKey } = wanted;
  const { brands, nowMs } = await readBrandsAndTime(db, { brandIds: [brandId], now: businessTime() });
  const brand = brands.get(brandId);
  if (!brand || nowMs === undefined) return undefined;
  const board = await boardAt(db, { brandId, period, platform, atMs: nowMs });
  if (!board) return { entries: [], total: 0, own: undefined, nowMs };
  const ranking = { boardId: board.id, metric };
  const [first, total, ownScores] = await Promise.all([
    firstOf(db, { ...ranking, limit }),
    usersOn(db, ranking),
    scoresOf(db, { ...ranking, userKeys: userKey === undefined ? [] : [userKey] }),
  ]);
  const own = [...ownScores].map(([key, score]) => ({ userKey: key, score }));
  const shown = await placed(db, { board, metric, users: [...first, ...own] });
  const names = await boardUsers(db, { brandId, userKeys: shown.map((one) => one.userKey) });
  const masked = brand.profile.leaderboardUsers === 'masked' && !wanted.withBrandKey;
  const entries = shown.map((one) => {
    const known = names.get(one.userKey);
    const displayName = known?.displayName ?? nameOfUser(one.userKey);
    // Whoever names a user knows the user's name.
    const hidden = masked && one.userKey !== userKey;
    const identifier = hidden ? maskedUser(one.userKey) : one.userKey;
    const name = hidden && !known?.displayName ? nameOfUser(identifier) : displayName;
    return {
      rank: one.rank,
      userIdentifier: identifier,
      userId: identifier,
      username: name,
      displayName: name,
      platform: (platform || known?.platform) ?? 'web',
      value: one.score,
      formattedValue: formattedScore(metric, one.score),
      change: one.change,
    };
  });
  return { entries: entries.slice(0, first.length), total, own: entries[first.length], nowMs };
}

/** These users of a board with their ranks, and the places that each has gained since the board before. */
async function placed(db: Queries, of: { board: Board; metric: BoardMetric; users: UserScore[] }) {
  const { board, metric, users } = of;
  const ranks = await ranksOf(db, { boardId: board.id, metric, scores: users.map(({ score }) => score) });
  const before = await boardEndedBefore(db, { ...board, beforeMs: board.startsAt });
  const ranksBefore = before && (await ranksOfUsers(db, { boardId: before.id, metric }, users));
  return users.map((user) => {
    const rank = ranks.get(user.score) ?? 1;
    const rankBefore = ranksBefore?.get(user.userKey);
    return { ...user, rank, change: rankBefore === undefined ? 0 : rankBefore - rank };
  });
}

/** The ranks of those of these users who are on a board. */
async function ranksOfUsers(
  db: Queries,
  ranking: Ranking,
  users: { userKey: string }[],
): Promise<Map<string, number>> {
  const userKeys = [...new Set(users.map(({ userKey }) => userKey))];
  const scores = await scoresOf(db, { ...ranking, userKeys });
  const ranks = await ranksOf(db, { ...ranking, scores: [...scores.values()] });
  return new Map([...scores].map(([userKey, score]) => [userKey, ranks.get(score) ?? 1]));
}

/** A user's place ever by RWT earned: on a platform, and among all users of the brand; 0: none. */
export async function rankOfUser(
  db: Queries,
  of: { brandId: BrandId; userKey: string; platform: string | undefined },
): Promise<{ server: number; global: number }> {
  const { brandId, userKey } = of;
  const on = async (platform: string) => {
    const board = await boardAt(db, { brandId, period: 'all', platform, atMs: 0 });
    if (!board) return 0;
    const ranks = await ranksOfUsers(db, { boardId: board.id, metric: 'rwt_earned' }, [{ userKey }]);
    return ranks.get(userKey) ?? 0;
  };
  const global = await on(EVERY_PLATFORM);
  return { server: of.platform === undefined ? global : await on(of.platform), global };
}
