/** Keeps compiled statements by their text. */

/** Returns the function that compiles a text once. Of more than `max`, those that were not used for longest are dropped. */
export function createStatementCache<S>(max: number, compile: (text: string) => S): (text: string) => S {
  // A map keeps the order in which its entries came: the first is the one that was not used for longest.
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
