/** Inserts of many rows as one parameter, so that the statement's text does not depend on their number and is built once. */
import { type Column, getTableColumns, is, Param, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgInsertBase, PgQueryResultHKT, PgTable } from 'drizzle-orm/pg-core';
import type { Queries } from './database.ts';
import type { Written } from './prepared.ts';
import { type Of, preparedQuery } from './prepared-query.ts';

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
