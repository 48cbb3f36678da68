/** The users who lead a brand's board now, and what each of them had on the boards before it. */
import type { Database } from '../../ledger/database/database.ts';
import { EVERY_PLATFORM, newestBoards } from '../../ledger/engagement/boards.ts';
import { firstOf, scoresOf } from '../../ledger/engagement/ranks.ts';
import type { BoardPeriod } from '../../rules/engagement/board-window.ts';
import type { BoardMetric } from '../../rules/engagement/rank-tree.ts';
import { findNamed, notFound } from '../brands/named-brand.ts';

/** Scores of boards that ended longer ago than two months are deleted. */
const BOARDS_MAX = { week: 9, month: 3 } as const;

export interface WantedBoardHistory {
  brand: string;
  period: Extract<BoardPeriod, 'week' | 'month'>;
  metric: BoardMetric;
  /** How many of those who lead. */
  users: number;
}

/** Boards from the oldest on; `values` has a place for each of them, 0 where the user was not on it. */
export async function readBoardHistory(
  { database: { db } }: { database: Database },
  { brand: name, period, metric, users: most }: WantedBoardHistory,
) {
  const brand = await findNamed(db, name);
  if (!brand) return notFound(name);
  const place = { brandId: brand.brandId, period, platform: EVERY_PLATFORM };
  const boards = (await newestBoards(db, { ...place, limit: BOARDS_MAX[period] })).reverse();
  const newest = boards.at(-1);
  const leading = newest ? await firstOf(db, { boardId: newest.id, metric, limit: most }) : [];
  const userKeys = leading.map(({ userKey }) => userKey);
  const scores = await Promise.all(boards.map(({ id }) => scoresOf(db, { boardId: id, metric, userKeys })));
  return {
    period,
    metric,
    boards: boards.map(({ startsAt }) => ({ startsAt: new Date(startsAt).toISOString() })),
    users: userKeys.map((user) => ({ user, values: scores.map((of) => of.get(user) ?? 0) })),
  };
}
