/** Many values in a statement: rows that are written as one list, and long lists that are asked for piece by piece. */
import { type Column, getTableColumns, is, Param, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgInsertBase, PgQueryResultHKT, PgTable } from 'drizzle-orm/pg-core';
import type { Queries } from './database.ts';
import { type Of, preparedQuery, type Written } from './prepared-query.ts';

/** What JSON cannot carry into a database unchanged: zero characters and halves of surrogate pairs. */
const LOSES_TEXT = /\\u(?:0000|d[89a-f])/;

/** Characters of a parameter; above it, JSON would be one more copy of much. */
const JSON_MAX = 500_000;

/**
 * A function that inserts rows in their order with one statement, and does nothing without rows. `and` adds what follows:
 * what becomes of rows that are there already, and what is returned.
 */
export function bulkInsert<Table extends PgTable, Answer>(
  table: Table,
  and: (insert: PgInsertBase<Table, PgQueryResultHKT>) => Written<Answer>,
): (db: Queries, rows: Table['$inferInsert'][]) => Promise<Answer | []> {
  const write = preparedQuery((db, { rows }: Of<{ rows: string }>) =>
    and(db.insert(table).select(rowsOf(table, rows))),
  );
  return async (db, rows) => {
    if (rows.length === 0) return [];
    const json = rowsAsJson(table, rows);
    if (json !== undefined) return write(db, { rows: json });
    return and(db.insert(table).values(rows)).prepare('').execute();
  };
}

/** The rows that `rowsAsJson` wrote, as what an insert selects. */
export function rowsOf(table: PgTable, json: Placeholder | string): SQL {
  const cells = Object.values<Column>(getTableColumns(table)).map(
    (column, place) => `cast(value ->> ${place} as ${column.getSQLType()})`,
  );
  // Without a condition, SQLite takes ON CONFLICT for a part of a join.
  return sql`select ${sql.raw(cells.join(', '))} from jsonb_array_elements(cast(${json} as jsonb)) where true`;
}

/** Undefined where a value is an expression, or nothing that JSON has, and for large texts. */
export function rowsAsJson(table: PgTable, rows: Record<string, unknown>[]): string | undefined {
  const columns = columnsOf(table);
  const cells: unknown[][] = [];
  let texts = 0;
  for (const row of rows) {
    const own: unknown[] = new Array(columns.length);
    for (let place = 0; place < columns.length; place++) {
      const { name, column } = columns[place] as NamedColumn;
      const given = driverValue(column, row[name]);
      if (given === undefined && column.defaultFn) return undefined;
      const cell = given === undefined ? (column.default ?? null) : given;
      if (typeof cell === 'object' ? cell !== null : typeof cell === 'bigint') return undefined;
      if (typeof cell === 'string') texts += cell.length;
      own[place] = cell;
    }
    if (texts > JSON_MAX) return undefined;
    cells.push(own);
  }
  const json = JSON.stringify(cells);
  return LOSES_TEXT.test(json) ? undefined : json;
}

interface NamedColumn {
  name: string;
  column: Column;
}

const known = new WeakMap<PgTable, NamedColumn[]>();

/** A table's columns in their order, and what rows call them. */
function columnsOf(table: PgTable): NamedColumn[] {
  const columns =
    known.get(table) ??
    Object.entries<Column>(getTableColumns(table)).map(([name, column]) => ({ name, column }));
  known.set(table, columns);
  return columns;
}

/** Undefined where the row says nothing; null is null. An expression stays one. */
function driverValue(column: Column, given: unknown): unknown {
  if (typeof given !== 'object') return given === undefined ? given : column.mapToDriverValue(given);
  const value = is(given, Param) ? given.value : given;
  const isExpression = typeof value === 'object' && value !== null && 'getSQL' in value;
  return value === null || value === undefined || isExpression ? value : column.mapToDriverValue(value);
}

// Long lists in statements: asked for piece by piece, since a statement takes a limited number of values.

/** Postgres takes 65,535 values in a statement and SQLite 32,766; a thousand already costs next to nothing each. */
const LISTED_MAX = 1_000;

/** Calls `ask` with up to a thousand values at a time, and returns all rows. */
export async function inChunks<Value, Row>(
  values: Value[],
  ask: (some: Value[]) => PromiseLike<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < values.length; from += LISTED_MAX)
    rows.push(...(await ask(values.slice(from, from + LISTED_MAX))));
  return rows;
}
