/** The query of an address. */

/** `?limit=5&type=…` of the fields that are given; empty when none is. */
export function queryOf(fields: object): string {
  const given = Object.entries(fields).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
