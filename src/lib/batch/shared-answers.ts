/**
 * Shares an answer among those who ask for the same: while it is being found and for a while after, or in one turn of
 * the event loop.
 */

/**
 * Returns the function that asks for `key`, or joins the question that is under way or was answered within `keptMs`.
 * A failure is shared with those who wait for it, and not kept. At most `keysMax` answers are kept.
 */
export function createSharedAnswers<Answer>(options: {
  keptMs: number;
  keysMax: number;
  now: () => number;
}): (key: string, ask: () => Promise<Answer>) => Promise<Answer> {
  const { keptMs, keysMax, now } = options;
  const asked = new Map<string, { answer: Promise<Answer>; keptUntilMs: number | undefined }>();

  return (key, ask) => {
    const known = asked.get(key);
    if (known && (known.keptUntilMs === undefined || now() < known.keptUntilMs)) return known.answer;
    const question = { answer: ask(), keptUntilMs: undefined as number | undefined };
    asked.delete(key);
    asked.set(key, question);
    const forget = () => {
      if (asked.get(key) === question) asked.delete(key);
    };
    question.answer.then(() => {
      if (keptMs === 0) return forget();
      question.keptUntilMs = now() + keptMs;
      const [oldest] = asked.keys();
      if (asked.size > keysMax && oldest !== undefined) asked.delete(oldest);
    }, forget);
    return question.answer;
  };
}

// Shares an answer among those who ask for the same in one turn of the event loop: requests that were read together.

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
