/**
 * Runs prepared statements on their connection itself: drizzle, which built their texts, makes a handful of promises for
 * each run and finds out for each cell of each row what it is, which is the same in every row.
 */
import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm';
import type { Queries } from './database.ts';

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

/** Of drizzle's prepared statements, what they ask and how rows are made of the answer. */
interface Built {
  getQuery(): { sql: string; params: unknown[] };
  fields?: { path: string[]; field: Column | Decoding | { sql: Decoding } }[];
}
interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}
type Decoding = SQL & { decoder: Decoder };

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
  const { fields } = built as unknown as Built;
  // Rows that are made of several objects stay drizzle's.
  if (!run || fields?.some(({ path }) => path.length > 1)) return (values) => built.execute(values);
  const { sql: text, params } = (built as unknown as Built).getQuery();
  const fillers = params.map(fillerOf);
  const mapRows = fields ? rowMapper(fields) : () => [];
  const method = fields ? 'all' : 'execute';
  const name = `s${++named}`;
  return async (values) => {
    const filled = fillers.map((fill) => fill(values));
    const { rows } = await run(text, filled, method, name);
    return mapRows(rows as unknown[][]) as Answer;
  };
}

/** What a parameter of the text is for given values. */
function fillerOf(param: unknown): (values: Values) => unknown {
  if (is(param, Placeholder)) return (values) => values[param.name];
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param;
  const { value, encoder } = param;
  return (values) => encoder.mapToDriverValue(values[value.name]);
}

function rowMapper(fields: NonNullable<Built['fields']>) {
  const cells = fields.map(({ path, field }) => ({ name: path.join(), decoder: decoderOf(field) }));
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

function decoderOf(field: Column | Decoding | { sql: Decoding }): Decoder {
  if (is(field, Column)) return field;
  return is(field, SQL) ? (field as Decoding).decoder : (field as { sql: Decoding }).sql.decoder;
}
