/** Whether the database keeps what it has acknowledged. */
import { sql } from 'drizzle-orm';
import type { Database } from './database.ts';

/**
 * Settings under which an acknowledged commit can be lost, as `name=value`; empty when all is well. SQLite's
 * are set on every connection; a Postgres server is configured by its operator.
 */
export async function unsafeDatabaseSettings({ dialect, db }: Database): Promise<string[]> {
  if (dialect !== 'postgres') return [];
  const setting = (name: string) => sql<string>`current_setting(${name})`;
  const [row] = await db
    .select({
      fsync: setting('fsync'),
      full_page_writes: setting('full_page_writes'),
      synchronous_commit: setting('synchronous_commit'),
    })
    .from(sql`(select 1) as one`);
  return Object.entries(row ?? {}).flatMap(([name, value]) => (value === 'off' ? [`${name}=off`] : []));
}
