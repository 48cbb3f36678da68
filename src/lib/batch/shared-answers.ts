/** Shares an answer among those who ask for the same, while it is being found and for a while after. */

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
