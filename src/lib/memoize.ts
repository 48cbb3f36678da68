/** Results of a function that depends on its text alone, kept for the texts that come again and again. */

/** Longer texts come from nobody who means well, and would fill the memory. */
const LENGTH_MAX = 300;
const TEXTS_MAX = 5_000;

/** The same function with a memory; at its limit everything is forgotten, which costs each text one more call. */
export function memoize<Result>(of: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = of(text);
    if (text.length > LENGTH_MAX) return result;
    if (results.size >= TEXTS_MAX) results.clear();
    results.set(text, result);
    return result;
  };
}
