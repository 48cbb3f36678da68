/**
 * Which boards count what happens at a moment: boards of a new week or month are opened by the first to count on them,
 * and those that ended long ago are closed.
 */
import { and, desc, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import {
  type BoardPeriod,
  boardPeriods,
  boardWindow,
  NEVER_MS,
} from '../../rules/engagement/board-window.ts';
import { knownPlatform } from '../../rules/platforms.ts';
import { takeNumbers } from '../counters.ts';
import type { Queries } from '../database/database.ts';
import { leaderboardRanks, leaderboardScores, leaderboards } from '../schema/engagement/leaderboards.ts';

export type Board = typeof leaderboards.$inferSelect;

/** The platform of boards that count everything. */
export const EVERY_PLATFORM = '';

/** Something that counts: where, and when. */
export interface BoardPlace {
  brandId: BrandId;
  /** Without one, or where the brand has boards of enough platforms, it counts on the boards of all platforms alone. */
  platform?: string | undefined;
  atMs: number;
  /** The brand's, an IANA name. */
  timeZone: string;
}

/**
 * Platforms with boards of their own, for each brand, beside the well-known ones: callers choose the name, and each costs
 * as much as all together.
 */
const OTHER_PLATFORMS_MAX = 20;

/** Finds the boards of moments, and opens those that are missing. */
export async function boardsFor<Place extends BoardPlace>(
  tx: Queries,
  places: Place[],
): Promise<(place: Place) => Board[]> {
  const known = await boardsSince(tx, places);
  const find = (wanted: Wanted) =>
    known.find(
      (board) => isSame(board, wanted) && board.startsAt <= wanted.atMs && wanted.atMs < board.endsAt,
    );
  // Boards of one place hold all its moments from the latest beginning to the earliest end.
  const held = new Map<string, Held[]>();
  const textOf = ({ brandId, platform }: Place) => `${brandId} ${platform ?? ''}`;
  const heldBy = (place: Place) =>
    held.get(textOf(place))?.find(({ from, until }) => from <= place.atMs && place.atMs < until);
  for (const place of places) {
    if (heldBy(place)) continue;
    const boards: Board[] = [];
    for (const wanted of wantedFor(place, known)) {
      const board = find(wanted) ?? (await openBoard(tx, { ...wanted, timeZone: place.timeZone }));
      if (!known.includes(board)) known.push(board);
      boards.push(board);
    }
    const from = Math.max(...boards.map(({ startsAt }) => startsAt));
    const until = Math.min(...boards.map(({ endsAt }) => endsAt));
    const open = boards.filter(({ closed }) => !closed);
    held.set(textOf(place), [...(held.get(textOf(place)) ?? []), { from, until, boards: open }]);
  }
  return (place) => heldBy(place)?.boards ?? [];
}

/** The open boards that count what happens from one moment until another. */
interface Held {
  from: number;
  until: number;
  boards: Board[];
}

type Wanted = Pick<Board, 'brandId' | 'period' | 'platform'> & { atMs: number };

const isSame = (board: Omit<Wanted, 'atMs'>, wanted: Omit<Wanted, 'atMs'>) =>
  board.brandId === wanted.brandId && board.period === wanted.period && board.platform === wanted.platform;

function wantedFor({ brandId, platform, atMs }: BoardPlace, known: Board[]): Wanted[] {
  const platforms = [EVERY_PLATFORM];
  if (platform !== undefined && mayHaveBoards({ brandId, platform }, known)) platforms.push(platform);
  return platforms.flatMap((one) => boardPeriods.map((period) => ({ brandId, period, platform: one, atMs })));
}

function mayHaveBoards({ brandId, platform }: { brandId: BrandId; platform: string }, known: Board[]) {
  if (knownPlatform(platform) || platform === EVERY_PLATFORM) return true;
  const ofBrand = known.filter((board) => board.brandId === brandId && board.platform !== EVERY_PLATFORM);
  const others = new Set(ofBrand.map((board) => board.platform).filter((one) => !knownPlatform(one)));
  return others.has(platform) || others.size < OTHER_PLATFORMS_MAX;
}

/** The boards of these brands that had not ended at the first of these moments. */
async function boardsSince(tx: Queries, places: BoardPlace[]): Promise<Board[]> {
  const first = places.reduce((earliest, { atMs }) => Math.min(earliest, atMs), NEVER_MS);
  const brandIds = [...new Set(places.map(({ brandId }) => brandId))];
  return tx
    .select()
    .from(leaderboards)
    .where(and(inArray(leaderboards.brandId, brandIds), gt(leaderboards.endsAt, first)));
}

/** Opens the board of a window, unless another process is doing so: then waits for it. */
async function openBoard(tx: Queries, wanted: Wanted & { timeZone: string }): Promise<Board> {
  const { brandId, period, platform, atMs } = wanted;
  // The brand's first board is locked, so that of two processes with two time zones one opens the window.
  if (period !== 'all' || platform !== EVERY_PLATFORM) {
    await tx
      .select({ id: leaderboards.id })
      .from(leaderboards)
      .where(isOf({ brandId, period: 'all', platform: EVERY_PLATFORM }))
      .for('update');
  }
  const opened = await boardAt(tx, wanted);
  if (opened) return opened;
  const id = await takeNumbers(tx, 'leaderboard', 1);
  const board = { id, brandId, period, platform, closed: false, ...(await freeWindow(tx, wanted)) };
  const [written] = await tx.insert(leaderboards).values(board).onConflictDoNothing().returning();
  const kept = written ?? (await boardAt(tx, wanted));
  if (!kept)
    throw new Error(`the leaderboard ${period} of ${brandId} at ${atMs} was neither opened nor found`);
  return kept;
}

/** The window of the brand's time zone, less what boards of another zone have counted. */
async function freeWindow(tx: Queries, wanted: Wanted & { timeZone: string }) {
  const window = boardWindow(wanted.period, wanted);
  const beside = await tx
    .select()
    .from(leaderboards)
    .where(
      and(
        isOf(wanted),
        gt(leaderboards.endsAt, window.startsAt),
        sql`${leaderboards.startsAt} < ${window.endsAt}`,
      ),
    );
  for (const { startsAt, endsAt } of beside) {
    if (endsAt <= wanted.atMs) window.startsAt = Math.max(window.startsAt, endsAt);
    else window.endsAt = Math.min(window.endsAt, startsAt);
  }
  return window;
}

const isOf = ({ brandId, period, platform }: Omit<Wanted, 'atMs'>) =>
  and(
    eq(leaderboards.brandId, brandId),
    eq(leaderboards.period, period),
    eq(leaderboards.platform, platform),
  );

/** The board that holds a moment; undefined before anything is counted on it. */
export async function boardAt(db: Queries, wanted: Wanted): Promise<Board | undefined> {
  const [board] = await db
    .select()
    .from(leaderboards)
    .where(and(isOf(wanted), lte(leaderboards.startsAt, wanted.atMs), gt(leaderboards.endsAt, wanted.atMs)));
  return board;
}

/** Boards that still have their scores, the newest first. */
export const newestBoards = (
  db: Queries,
  { limit, ...wanted }: Omit<Wanted, 'atMs'> & { limit: number },
): Promise<Board[]> =>
  db
    .select()
    .from(leaderboards)
    .where(and(isOf(wanted), eq(leaderboards.closed, false)))
    .orderBy(desc(leaderboards.startsAt))
    .limit(limit);

/** The board of the week or month that ended last before `beforeMs`. */
export async function boardEndedBefore(
  db: Queries,
  wanted: { brandId: BrandId; period: BoardPeriod; platform: string; beforeMs: number },
): Promise<Board | undefined> {
  const [board] = await db
    .select()
    .from(leaderboards)
    .where(and(isOf(wanted), lte(leaderboards.endsAt, wanted.beforeMs)))
    .orderBy(desc(leaderboards.endsAt))
    .limit(1);
  return board;
}

// Deletes the scores of days, weeks and months that ended long ago, piece by piece, and closes their boards.

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
