/** Numbers that are handed out once and never again, in the order of their commits. */
import { eq, sql } from 'drizzle-orm';
import type { Queries } from './database/database.ts';
import { type Of, preparedQuery } from './database/prepared-query.ts';
import { type CounterName, counters } from './schema/facts-and-counters.ts';

/** Takes `count` consecutive numbers and returns the first; the row stays locked until the commit. */
export async function takeNumbers(tx: Queries, name: CounterName, count: number): Promise<number> {
  const [row] = await addTo(tx, { name, count });
  if (!row) throw new Error(`the counter ${name} gave no number`);
  return row.next - count;
}

/** How many numbers were handed out. */
export async function handedOut(db: Queries, name: CounterName): Promise<number> {
  const [row] = await db.select({ next: counters.next }).from(counters).where(eq(counters.name, name));
  return row?.next ?? 0;
}

const addTo = preparedQuery((db, of: Of<{ name: CounterName; count: number }>) =>
  db
    .insert(counters)
    .values({ name: of.name, next: of.count })
    .onConflictDoUpdate({ target: counters.name, set: { next: sql`${counters.next} + excluded.next` } })
    .returning({ next: counters.next }),
);
