/** How far each consumer has read the feed. Its row is locked in each commit of its work, so that one process at a time does it. */
import { asc, sql } from 'drizzle-orm';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { consumerPositions } from '../schema/consumers.ts';

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
