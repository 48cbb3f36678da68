/** Group commit where one item's row may stay locked: what needs that row is run apart, so that the rest does not wait for it. */
import { createBatcher } from './batcher.ts';

/**
 * Runs items together as `createBatcher` does. Of a run that fails because a row is locked, the items whose row it is
 * are handed to runs of their own, and so are later items of the same key until one of these runs gets through; all
 * others are run again without them.
 */
export function createKeyedBatcher<Item, Answer, Key>(options: {
  maxItems: number;
  /** What the row that an item needs belongs to. */
  keyOf: (item: Item) => Key;
  /** Whether a run failed because a row stayed locked. */
  isLocked: (error: unknown) => boolean;
  run: (items: Item[]) => Promise<Answer[]>;
  /** Runs once more what is left of a run without the items whose row is locked; may wait longer than `run`. Default: `run`. */
  runAgain?: (items: Item[]) => Promise<Answer[]>;
  /** Those of the keys whose rows are locked; without it, every key of the run counts as locked. */
  lockedKeys?: (keys: Key[]) => Promise<ReadonlySet<Key>>;
  /** Runs items of one key, beside all other runs: it may wait longer than `run`. */
  runApart: (items: Item[]) => Promise<Answer[]>;
}): { submit(item: Item): Promise<Answer>; idle(): Promise<void> } {
  const { maxItems, keyOf, isLocked, run, lockedKeys = async (keys) => new Set(keys), runApart } = options;
  const { runAgain = run } = options;
  const apart = new Map<Key, Gatherer<Item, Answer>>();
  const together = createBatcher<Item, Answer>({
    maxItems,
    run: (items) => run(items).catch((error) => part(items, error)),
  });

  /** Answers, or promises of them: the run that an item was taken out of does not wait for its answer. */
  async function part(items: Item[], error: unknown): Promise<(Answer | Promise<Answer>)[]> {
    if (!isLocked(error)) throw error;
    const locked = await lockedKeys([...new Set(items.map(keyOf))]);
    const answers = new Map<Item, Answer | Promise<Answer>>();
    for (const item of items.filter((one) => locked.has(keyOf(one)))) {
      const answer = gathererOf(keyOf(item)).submit(item);
      // Its caller hears of a failure; until then it is nobody's.
      answer.catch(() => undefined);
      answers.set(item, answer);
    }
    const free = items.filter((one) => !locked.has(keyOf(one)));
    const others = free.length > 0 ? await runAgain(free) : [];
    for (const [place, answer] of others.entries()) answers.set(free[place] as Item, answer);
    return items.map((item) => answers.get(item) as Answer | Promise<Answer>);
  }

  function gathererOf(key: Key): Gatherer<Item, Answer> {
    const known = apart.get(key);
    if (known) return known;
    const batcher: Gatherer<Item, Answer> = createBatcher<Item, Answer>({
      maxItems,
      async run(items) {
        const answers = await runApart(items);
        if (batcher.waiting() === 0) apart.delete(key);
        return answers;
      },
    });
    apart.set(key, batcher);
    return batcher;
  }

  return {
    submit: (item) => (apart.get(keyOf(item)) ?? together).submit(item),
    /** Resolves when nothing is under way. */
    async idle() {
      await together.idle();
      await Promise.all([...apart.values()].map((batcher) => batcher.idle()));
    },
  };
}

type Gatherer<Item, Answer> = ReturnType<typeof createBatcher<Item, Answer>>;
