/**
 * All that the ledger takes of drizzle beyond what drizzle documents: what a prepared statement asks, how its rows are read,
 * and the dialect that writes it. package.json pins drizzle's version, and `test/ledger/drizzle-internals.test.ts` names it
 * with each of these, so that an upgrade which changes one fails there.
 */
import { Column, is, Param, Placeholder, SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pg-proxy';
import type { Queries } from './database.ts';

type Values = Record<string, unknown>;

/** A prepared statement. */
export interface Statement {
  text: string;
  /** What each parameter of the text is for given values. */
  fillers: ((values: Values) => unknown)[];
  /** How its rows are read, cell by cell; undefined for a statement that returns none. */
  cells: { path: string[]; decoder: Decoder }[] | undefined;
}

interface Decoder {
  mapFromDriverValue(value: unknown): unknown;
}
type Decoding = SQL & { decoder: Decoder };

interface Built {
  getQuery(): { sql: string; params: unknown[] };
  fields?: { path: string[]; field: Column | Decoding | { sql: Decoding } }[];
}

/** Of what `.prepare()` returns. */
export function statementOf(prepared: unknown): Statement {
  const built = prepared as Built;
  const { sql: text, params } = built.getQuery();
  return {
    text,
    fillers: params.map(fillerOf),
    cells: built.fields?.map(({ path, field }) => ({ path, decoder: decoderOf(field) })),
  };
}

function fillerOf(param: unknown): (values: Values) => unknown {
  if (is(param, Placeholder)) return (values) => values[param.name];
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => param;
  const { value, encoder } = param;
  return (values) => encoder.mapToDriverValue(values[value.name]);
}

function decoderOf(field: Column | Decoding | { sql: Decoding }): Decoder {
  if (is(field, Column)) return field;
  return is(field, SQL) ? (field as Decoding).decoder : (field as { sql: Decoding }).sql.decoder;
}

type Select = Parameters<PgDialect['buildSelectQuery']>[0];
export type Insert = Parameters<PgDialect['buildInsertQuery']>[0];
type Query = ReturnType<PgDialect['sqlToQuery']>;

/** How a database without row locks spells what the Postgres builder writes. */
export interface Spelling {
  parameter: string;
  /** A statement's whole text. */
  text(inPostgres: string): string;
  /** An insert before its text is written. */
  insert(inPostgres: Insert): Insert;
}

/** Drizzle takes `escapeParam` off its dialect and calls it alone, so the spelling is not found through `this`. */
const dialectOf = (spelling: Spelling) =>
  new (class extends PgDialect {
    override escapeParam() {
      return spelling.parameter;
    }
    override sqlToQuery(...given: Parameters<PgDialect['sqlToQuery']>): Query {
      const query = super.sqlToQuery(...given);
      return { ...query, sql: spelling.text(query.sql) };
    }
    override buildSelectQuery({ lockingClause: _, ...select }: Select): SQL {
      return super.buildSelectQuery(select);
    }
    override buildInsertQuery(insert: Insert): SQL {
      return super.buildInsertQuery(spelling.insert(insert));
    }
  })();

/** The builder's queries in another spelling, on what runs a statement. */
export const spelledQueries = (
  spelling: Spelling,
  run: (text: string, params: unknown[], method: 'all' | 'execute') => Promise<{ rows: unknown[] }>,
): Queries =>
  drizzle(
    // Without drizzle's fourth argument, which is not the name that our runners take there.
    (text, params, method) => run(text, params, method),
    {},
    () => dialectOf(spelling),
  ) as unknown as Queries;
