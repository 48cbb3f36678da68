/** Which rewards the leaderboards have counted, by their position in the feed. */
import { and, gt, lte } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { feedTakeBacks } from '../schema/consumers.ts';
import { readPositions } from './positions.ts';
import { brandsAside } from './set-aside.ts';

/** What leaderboards have counted so far. */
export interface CountedByBoards {
  /** Payouts up to this position of the feed. */
  position: number;
  /** Rewards whose payout was taken back further on: still counted. */
  takenBackLater: ReadonlySet<number>;
  /** Brands with facts that wait to be counted. */
  aside: ReadonlySet<string>;
}

const BOARDS = 'boards';

export async function countedByBoards(db: Queries): Promise<CountedByBoards> {
  const position = (await readPositions(db)).get(BOARDS) ?? 0;
  const later = await db
    .select({ sequences: feedTakeBacks.sequences })
    .from(feedTakeBacks)
    .where(and(lte(feedTakeBacks.bookedPosition, position), gt(feedTakeBacks.position, position)));
  const aside = (await brandsAside(db, [BOARDS])).get(BOARDS) ?? new Set();
  return { position, takenBackLater: new Set(later.flatMap(({ sequences }) => sequences)), aside };
}

/** Whether a reward is among what they have counted. */
export const isOnBoards = (
  { position, takenBackLater }: CountedByBoards,
  reward: { sequence: number; feedPosition: number | null; failure: string | null },
): boolean =>
  takenBackLater.has(reward.sequence) ||
  (reward.feedPosition !== null && reward.feedPosition <= position && reward.failure === null);
