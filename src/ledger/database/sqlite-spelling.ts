/** The Postgres dialect of the query builder as SQLite understands it. */
import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { rowsAsJson, rowsOf } from './bulk-insert.ts';

type Insert = Parameters<PgDialect['buildInsertQuery']>[0];
type Query = ReturnType<PgDialect['sqlToQuery']>;

/** Lists and rows are JSON in SQLite, whose functions have other names. */
const IN_SQLITE: [inPostgres: RegExp, inSqlite: string][] = [
  [/= any\(\?\)/g, 'in (select value from json_each(?))'],
  [/cast\((value ->> \d+) as \w+\)/g, '$1'],
  [/cast\(\? as jsonb\)/g, '?'],
  // Its values are parsed once: `json_each` writes each of them out as text for every column that is taken from it.
  [/jsonb_array_elements\(/g, 'jsonb_each('],
];

/** Drizzle's Postgres dialect with the spellings that SQLite does not share. */
export class SqliteSpelling extends PgDialect {
  override escapeParam() {
    return '?';
  }
  override sqlToQuery(...given: Parameters<PgDialect['sqlToQuery']>): Query {
    const query = super.sqlToQuery(...given);
    const text = IN_SQLITE.reduce((sofar, [from, to]) => sofar.replace(from, to), query.sql);
    return { ...query, sql: text };
  }
  // SQLite has one writer at a time, so row locks are left out.
  override buildSelectQuery(config: Parameters<PgDialect['buildSelectQuery']>[0]): SQL {
    const { lockingClause: _, ...rest } = config;
    return super.buildSelectQuery(rest);
  }
  // SQLite knows no DEFAULT inside VALUES, so defaults and nulls are written out.
  override buildInsertQuery(config: Insert): SQL {
    if (config.select || !Array.isArray(config.values)) return super.buildInsertQuery(config);
    const json = config.values.length > 1 ? rowsAsJson(config.table, config.values) : undefined;
    if (json) return super.buildInsertQuery({ ...config, select: true, values: rowsOf(config.table, json) });
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
