/**
 * How far each consumer has read the feed, and so which rewards the leaderboards have counted. Its row is locked in each
 * commit of its work, so that one process at a time does it.
 */
import { and, asc, gt, lte, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { consumerPositions, feedTakeBacks } from '../schema/consumers.ts';
import { brandsAside } from './set-aside.ts';

const { consumer, position } = consumerPositions;

/** Where these consumers are, by name; one that has never read anything is missing. */
export async function readPositions(db: Queries): Promise<Map<string, number>> {
  const rows = await allPositions(db, {});
  return new Map(rows.map((row) => [row.consumer, row.position]));
}

const allPositions = preparedQuery((db) => db.select().from(consumerPositions));

/** Gives a new consumer its position, unless another process has. */
export async function beginAt(db: Queries, begin: { consumer: string; position: number }): Promise<void> {
  await db.insert(consumerPositions).values(begin).onConflictDoNothing();
}

/** Locks the rows of these consumers until the commit; whether all of them still are at `at`. */
export async function lockPositions(
  tx: Queries,
  { consumers, at }: { consumers: string[]; at: number },
): Promise<boolean> {
  const rows = await locked(tx, { consumers });
  return rows.length === consumers.length && rows.every((row) => row.position === at);
}

const locked = preparedQuery((db, of: Of<{ consumers: string[] }>) =>
  db
    .select({ position })
    .from(consumerPositions)
    .where(isOneOf(consumer, of.consumers))
    .orderBy(asc(consumer))
    .for('update'),
);

/** Everything up to `to` has had its effect by these consumers. */
export async function movePositions(
  tx: Queries,
  { consumers, to }: { consumers: string[]; to: number },
): Promise<void> {
  await moved(tx, { consumers, to });
}

const moved = preparedQuery((db, of: Of<{ consumers: string[]; to: number }>) =>
  db
    .update(consumerPositions)
    .set({ position: sql`${of.to}` })
    .where(isOneOf(consumer, of.consumers)),
);

// Which rewards the leaderboards have counted, by their position in the feed.

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
