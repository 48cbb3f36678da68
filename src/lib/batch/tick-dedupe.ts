/** Shares an answer among those who ask for the same in one turn of the event loop: requests that were read together. */

/** Returns the function that asks for `key`, or joins the question that was asked in the same turn. A failure is shared too. */
export function createTickDedupe<Key, Answer>(
  ask: (key: Key) => Promise<Answer>,
): (key: Key) => Promise<Answer> {
  const asked = new Map<Key, Promise<Answer>>();
  return (key) => {
    const known = asked.get(key);
    if (known) return known;
    if (asked.size === 0) setImmediate(() => asked.clear());
    const answer = ask(key);
    asked.set(key, answer);
    return answer;
  };
}
