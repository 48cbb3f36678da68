/** Numbers that are handed out once and never again, in the order of their commits. */
import { sql } from 'drizzle-orm';
import type { Queries } from './database/database.ts';
import { type CounterName, counters } from './schema/counters.ts';

/** Takes `count` consecutive numbers and returns the first; the row stays locked until the commit. */
export async function takeNumbers(tx: Queries, name: CounterName, count: number): Promise<number> {
  const [row] = await tx
    .insert(counters)
    .values({ name, next: count })
    .onConflictDoUpdate({ target: counters.name, set: { next: sql`${counters.next} + ${count}` } })
    .returning({ next: counters.next });
  if (!row) throw new Error(`the counter ${name} gave no number`);
  return row.next - count;
}
