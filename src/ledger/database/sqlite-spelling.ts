/** The Postgres dialect of the query builder as SQLite understands it. */
import { getTableColumns, sql } from 'drizzle-orm';
import { rowsAsJson, rowsOf } from './bulk-insert.ts';
import type { Insert, Spelling } from './drizzle-internals.ts';

/** Lists and rows are JSON in SQLite, whose functions have other names. */
const IN_SQLITE: [inPostgres: RegExp, inSqlite: string][] = [
  [/= any\(\?\)/g, 'in (select value from json_each(?))'],
  [/cast\((value ->> \d+) as \w+\)/g, '$1'],
  [/cast\(\? as jsonb\)/g, '?'],
  // Its values are parsed once: `json_each` writes each of them out as text for every column that is taken from it.
  [/jsonb_array_elements\(/g, 'jsonb_each('],
];

/** The spellings that SQLite does not share. */
export const sqliteSpelling: Spelling = {
  parameter: '?',
  text: (inPostgres) => IN_SQLITE.reduce((sofar, [from, to]) => sofar.replace(from, to), inPostgres),
  insert,
};

/** SQLite knows no DEFAULT inside VALUES, so defaults and nulls are written out. */
function insert(config: Insert): Insert {
  if (config.select || !Array.isArray(config.values)) return config;
  const json = config.values.length > 1 ? rowsAsJson(config.table, config.values) : undefined;
  if (json) return { ...config, select: true, values: rowsOf(config.table, json) };
  const columns = Object.entries(getTableColumns(config.table));
  const values = config.values.map((row) => {
    const full = { ...row };
    for (const [name, column] of columns) {
      if (full[name] !== undefined || column.defaultFn) continue;
      full[name] = column.default === undefined ? sql`null` : sql`${column.default}`;
    }
    return full;
  });
  return { ...config, values };
}
