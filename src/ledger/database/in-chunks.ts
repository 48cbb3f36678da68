/** Long lists in statements: asked for piece by piece, since a statement takes a limited number of values. */

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
