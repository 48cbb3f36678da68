/** Keeps compiled statements by their text. */

/** Returns the function that compiles a text once. Above `max`, the least recently used is dropped. */
export function createStatementCache<S>(max: number, compile: (text: string) => S): (text: string) => S {
  // A map keeps insertion order, so its first entry is the least recently used.
  const compiled = new Map<string, S>();
  return (text) => {
    const statement = compiled.get(text) ?? compile(text);
    compiled.delete(text);
    compiled.set(text, statement);
    const [oldest] = compiled.keys();
    if (compiled.size > max && oldest !== undefined) compiled.delete(oldest);
    return statement;
  };
}
