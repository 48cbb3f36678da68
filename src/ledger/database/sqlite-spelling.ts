/** The Postgres dialect of the query builder as SQLite understands it. */
import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';

/** Drizzle's Postgres dialect with the spellings that SQLite does not share. */
export class SqliteSpelling extends PgDialect {
  override escapeParam() {
    return '?';
  }
  // SQLite has one writer at a time, so row locks are left out.
  override buildSelectQuery(config: Parameters<PgDialect['buildSelectQuery']>[0]): SQL {
    const { lockingClause: _, ...rest } = config;
    return super.buildSelectQuery(rest);
  }
  // SQLite knows no DEFAULT inside VALUES, so defaults and nulls are written out.
  override buildInsertQuery(config: Parameters<PgDialect['buildInsertQuery']>[0]): SQL {
    if (config.select || !Array.isArray(config.values)) return super.buildInsertQuery(config);
    const columns = Object.entries(getTableColumns(config.table));
    const values = config.values.map((row) => {
      const full = { ...row };
      for (const [name, column] of columns) {
        if (full[name] !== undefined || column.defaultFn) continue;
        full[name] = column.default === undefined ? sql`null` : sql`${column.default}`;
      }
      return full;
    });
    return super.buildInsertQuery({ ...config, values });
  }
}
