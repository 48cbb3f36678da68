/** Group commit: items that arrive while one run is under way are handed to the next run together. */

/**
 * `run` gets up to `maxItems` items and answers each, in order, or promises an answer, which nobody else waits for. Runs
 * never overlap. An item waits at most for the run under way and its own. When `run` throws, every item of that run fails
 * with its error.
 */
export function createBatcher<Item, Answer>(options: {
  maxItems: number;
  run: (items: Item[]) => Promise<(Answer | Promise<Answer>)[]>;
}): { submit(item: Item): Promise<Answer>; idle(): Promise<void>; waiting(): number } {
  type Waiting = {
    item: Item;
    resolve: (answer: Answer | Promise<Answer>) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];
  let loop: Promise<void> | undefined;

  async function drain() {
    // One turn of the event loop, so that requests read from the same burst of packets go together.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const together = waiting.slice(0, options.maxItems);
      waiting = waiting.slice(options.maxItems);
      try {
        const answers = await options.run(together.map(({ item }) => item));
        for (const [place, { resolve, reject }] of together.entries()) {
          if (place < answers.length) resolve(answers[place] as Answer);
          else reject(new Error('the run gave no answer for this item'));
        }
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    loop = undefined;
  }

  return {
    submit: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        loop ??= drain();
      }),
    /** Resolves when nothing is under way. */
    idle: async () => {
      while (loop) await loop;
    },
    waiting: () => waiting.length,
  };
}
