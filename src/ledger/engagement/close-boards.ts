/** Deletes the scores of days, weeks and months that ended long ago, piece by piece, and closes their boards. */
import { and, eq, inArray, lt } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { leaderboardRanks, leaderboardScores, leaderboards } from '../schema/engagement/leaderboards.ts';

/**
 * Closes the boards that ended before `beforeMs`, then deletes at most `limit` scores of closed ones; returns how many
 * there were. A closed board stays, so that a reward which is paid much later opens no second one for its window.
 */
export async function closeOldBoards(
  tx: Queries,
  { beforeMs, limit }: { beforeMs: number; limit: number },
): Promise<number> {
  await tx
    .update(leaderboards)
    .set({ closed: true })
    .where(and(lt(leaderboards.endsAt, beforeMs), eq(leaderboards.closed, false)));
  // The counters of a board go last, so they tell which one has scores.
  const [emptying] = await tx
    .select({ id: leaderboards.id })
    .from(leaderboards)
    .innerJoin(leaderboardRanks, eq(leaderboardRanks.boardId, leaderboards.id))
    .where(eq(leaderboards.closed, true))
    .limit(1);
  if (!emptying) return 0;
  const ofBoard = eq(leaderboardScores.boardId, emptying.id);
  const users = await tx
    .select({ userKey: leaderboardScores.userKey })
    .from(leaderboardScores)
    .where(ofBoard)
    .limit(limit);
  const userKeys = users.map(({ userKey }) => userKey);
  if (userKeys.length > 0)
    await tx.delete(leaderboardScores).where(and(ofBoard, inArray(leaderboardScores.userKey, userKeys)));
  else await tx.delete(leaderboardRanks).where(eq(leaderboardRanks.boardId, emptying.id));
  return Math.max(1, userKeys.length);
}
