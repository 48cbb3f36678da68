/** Statements whose text is built once: their values, and lists of any length, are parameters. */
import { type Column, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { msOf, type Queries, type SqlTime } from './database.ts';
import { prepare, type Written } from './prepared.ts';

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
