/**
 * Runs prepared statements on their connection itself: drizzle, which built their texts, makes a handful of promises for
 * each run and finds out for each cell of each row what it is, which is the same in every row.
 */
import type { Queries } from './database.ts';
import { type Statement, statementOf } from './drizzle-internals.ts';

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
