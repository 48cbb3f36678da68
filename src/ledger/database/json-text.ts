/** A field of a JSON column as text, spelled as both databases understand it. */
import { type Column, type SQL, sql } from 'drizzle-orm';

/** Null where there is no such field; `field` is a name, or a column that holds one. */
export const textAt = (json: Column, field: Column | SQL | string): SQL<string | null> =>
  sql<string | null>`(${json} ->> ${field})`;
