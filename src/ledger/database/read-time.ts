/** The database's own clock, read by itself. */
import { sql } from 'drizzle-orm';
import type { Database } from './database.ts';

/** Milliseconds since 1970, as the database has them now. */
export async function readTime({ db, now }: Pick<Database, 'db' | 'now'>): Promise<number> {
  const [row] = await db.select({ nowMs: now }).from(sql`(select 1) as one`);
  if (!row) throw new Error('a statement without conditions gave no row');
  return row.nowMs;
}
