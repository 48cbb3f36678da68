/** Turns drizzle's queries into text like drizzle does, only quicker: in one pass, with every name looked up once. */
import { Column, is, Name, Param, Placeholder, SQL, StringChunk, Table } from 'drizzle-orm';

interface Config {
  escapeName(name: string): string;
  escapeParam(place: number, value: unknown): string;
  casing: { getColumnCasing(column: Column): string };
  inlineParams?: boolean;
  invokeSource?: string | undefined;
  paramStartIndex?: { value: number };
}
export interface Query {
  sql: string;
  params: unknown[];
}
type Build = (this: SQL, chunks: unknown[], config: Config) => Query;

type Kind = 'text' | 'name' | 'list' | 'sql' | 'named' | 'param' | 'other';

/** In drizzle's own order: some classes are of two kinds. */
function kindOf(chunk: object): Kind {
  if (is(chunk, StringChunk)) return 'text';
  if (is(chunk, Name)) return 'name';
  if (Array.isArray(chunk)) return 'list';
  if (is(chunk, SQL)) return 'sql';
  if (is(chunk, Table) || is(chunk, Column)) return 'named';
  if (is(chunk, Param)) return 'param';
  return 'other';
}

const isInlined = (sql: object) => (sql as { shouldInlineParams?: boolean }).shouldInlineParams === true;

/**
 * Puts the quick way in place of drizzle's; returns what undoes it. What it does not know is left to drizzle.
 * `compare` is told every text, and can ask for drizzle's own.
 */
export function quickenSqlText(compare?: (quick: Query, slow: () => Query) => void): () => void {
  const prototype = SQL.prototype as unknown as { buildQueryFromSourceParams: Build };
  const slow = prototype.buildQueryFromSourceParams;
  const kinds = new Map<object, Kind>();
  const names = new WeakMap<object, string>();

  const quick: Build = function (chunks, config) {
    if (config.inlineParams || config.invokeSource !== undefined || isInlined(this))
      return slow.call(this, chunks, config);
    const places = config.paramStartIndex ?? { value: 0 };
    const params: unknown[] = [];
    const left = { ...config, paramStartIndex: places };

    const value = (one: unknown): string => {
      params.push(one);
      return config.escapeParam(places.value++, one);
    };
    const leave = (chunk: unknown): string => {
      const query = slow.call(this, [chunk], left);
      params.push(...query.params);
      return query.sql;
    };
    const nameOf = (of: object): string => {
      const known = names.get(of);
      if (known !== undefined) return known;
      const text = leave(of);
      names.set(of, text);
      return text;
    };
    const write = (list: readonly unknown[]): string => {
      let text = '';
      for (const chunk of list) {
        if (chunk === undefined) continue;
        if (typeof chunk !== 'object' || chunk === null) {
          text += typeof chunk === 'function' ? leave(chunk) : value(chunk);
          continue;
        }
        const of = Object.getPrototypeOf(chunk) as object;
        let kind = kinds.get(of);
        if (kind === undefined) {
          kind = kindOf(chunk);
          kinds.set(of, kind);
        }
        if (kind === 'text') {
          const { value: texts } = chunk as StringChunk;
          text += texts.length === 1 ? texts[0] : texts.join('');
        } else if (kind === 'name') text += config.escapeName((chunk as Name).value);
        else if (kind === 'list') text += `(${(chunk as unknown[]).map((one) => write([one])).join(', ')})`;
        else if (kind === 'sql') text += isInlined(chunk) ? leave(chunk) : write((chunk as SQL).queryChunks);
        else if (kind === 'named') text += nameOf(chunk);
        else if (kind === 'param') {
          const { value: given, encoder } = chunk as Param;
          if (is(given, Placeholder)) text += leave(chunk);
          else {
            const mapped: unknown = given === null ? null : encoder.mapToDriverValue(given);
            text += is(mapped, SQL) ? write([mapped]) : value(mapped);
          }
        } else text += leave(chunk);
      }
      return text;
    };
    const query = { sql: write(chunks), params };
    // Not for parts of a query, whose parameters have their places already.
    if (compare && config.paramStartIndex === undefined) {
      compare(query, () => {
        prototype.buildQueryFromSourceParams = slow;
        try {
          return slow.call(this, chunks, config);
        } finally {
          prototype.buildQueryFromSourceParams = quick;
        }
      });
    }
    return query;
  };
  prototype.buildQueryFromSourceParams = quick;
  return () => {
    prototype.buildQueryFromSourceParams = slow;
  };
}
