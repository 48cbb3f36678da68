/** Statements whose text is built once: their values, and lists of any length, are parameters. */
import { type Column, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { msOf, type Queries, type SqlTime } from './database.ts';
import { type Statement, statementOf } from './drizzle-internals.ts';

/** Where each value goes in a statement. */
export type Of<Values> = { [Name in keyof Values & string]: Placeholder<Name, Values[Name]> };

const placeOf = new Proxy({}, { get: (_, name) => sql.placeholder(String(name)) });

/**
 * A function that runs the statement which `write` writes, with the values that it is given. The text is built with the
 * first use of some queries and kept for as long as they are.
 */
export function preparedQuery<Values, Answer>(
  write: (db: Queries, of: Of<Values>) => Written<Answer>,
): (db: Queries, values: Values) => Promise<Answer> {
  const built = new WeakMap<Queries, ReturnType<typeof prepare<Answer>>>();
  return (db, values) => {
    let run = built.get(db);
    if (!run) {
      run = prepare(db, write(db, placeOf as Of<Values>));
      built.set(db, run);
    }
    return run(values as Record<string, unknown>);
  };
}

/** Whether a column has one of the values of a list, which is one parameter. */
export const isOneOf = (column: Column | SQL, list: Placeholder<string, readonly unknown[]>): SQL =>
  sql`${column} = any(${list})`;

/** A field of a JSON column as text, null where there is none; `field` is a name, or a column that holds one. */
export const textAt = (json: Column, field: Column | SQL | string): SQL<string | null> =>
  sql<string | null>`(${json} ->> ${field})`;

type ListedType = 'text' | 'bigint';

/** Rows as one parameter, each a list of its cells in JSON: what an update takes its values from, as `name.column`. */
export function jsonRows(name: string, rows: Placeholder, columns: Record<string, ListedType>): SQL {
  const cells = Object.entries(columns).map(
    ([column, type], place) => `cast(value ->> ${place} as ${type}) as ${column}`,
  );
  return sql`(select ${sql.raw(cells.join(', '))} from jsonb_array_elements(cast(${rows} as jsonb))) as ${sql.raw(name)}`;
}

/** Runs a statement with the values that it is given. */
export type Run<Values, Answer> = (db: Queries, values: Values) => Promise<Answer>;

/** A moment that is one of the statement's values. */
const givenMoment = sql<number>`cast(${sql.placeholder('givenMoment')} as bigint)`.mapWith(Number);

/** Makes a statement that names a moment once for each way to write one: a database's own clock, and moments that are given. */
export function atTime<Values, Answer>(
  make: (now: SqlTime) => Run<Values, Answer>,
): (now: SqlTime) => Run<Values, Answer> {
  const made = new WeakMap<SqlTime, Run<Values, Answer>>();
  const makeOnce = (now: SqlTime) => {
    const known = made.get(now) ?? make(now);
    made.set(now, known);
    return known;
  };
  return (now) => {
    const ms = msOf(now);
    if (ms === undefined) return makeOnce(now);
    return (db, values) => makeOnce(givenMoment)(db, { ...values, givenMoment: ms });
  };
}

// Runs prepared statements on their connection itself: drizzle, which built their texts, makes a handful of promises
// for each run and finds out for each cell of each row what it is, which is the same in every row.

/**
 * Runs one statement; `all`: each row as a list of its values, in the order of the statement's columns. A statement with a
 * `name` has the same text each time, and no other statement has that name.
 */
export type RunStatement = (
  text: string,
  params: unknown[],
  method: 'all' | 'execute',
  name?: string,
) => Promise<{ rows: unknown[] }>;

/** What the query builder makes: a statement that can be prepared. */
export interface Written<Answer> {
  prepare(name: string): { execute(values?: Record<string, unknown>): Promise<Answer> };
}

type Values = Record<string, unknown>;

const runners = new WeakMap<Queries, RunStatement>();

/** Lets prepared statements of these queries go to `run` directly. */
export function runDirectly(queries: Queries, run: RunStatement): Queries {
  runners.set(queries, run);
  return queries;
}

/** What runs the prepared statements of these queries; undefined where drizzle does. */
export const directRunOf = (queries: Queries): RunStatement | undefined => runners.get(queries);

let named = 0;

/** Prepares a statement on these queries. */
export function prepare<Answer>(db: Queries, written: Written<Answer>): (values: Values) => Promise<Answer> {
  const built = written.prepare('');
  const run = runners.get(db);
  const { text, fillers, cells } = statementOf(built);
  // Rows that are made of several objects stay drizzle's.
  if (!run || cells?.some(({ path }) => path.length > 1)) return (values) => built.execute(values);
  const mapRows = cells ? rowMapper(cells) : () => [];
  const method = cells ? 'all' : 'execute';
  const name = `s${++named}`;
  return async (values) => {
    const filled = fillers.map((fill) => fill(values));
    const { rows } = await run(text, filled, method, name);
    return mapRows(rows as unknown[][]) as Answer;
  };
}

function rowMapper(columns: NonNullable<Statement['cells']>) {
  const cells = columns.map(({ path, decoder }) => ({ name: path.join(), decoder }));
  return (rows: unknown[][]) =>
    rows.map((row) => {
      const made: Record<string, unknown> = {};
      for (let place = 0; place < cells.length; place++) {
        const { name, decoder } = cells[place] as (typeof cells)[number];
        const cell = row[place];
        made[name] = cell === null ? null : decoder.mapFromDriverValue(cell);
      }
      return made;
    });
}
