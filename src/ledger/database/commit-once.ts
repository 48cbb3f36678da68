/** A commit of many rows of which some may be there already, written by another try of their request. */
import { isUniqueViolation } from './database.ts';

/**
 * Commits `items` together and gives the answer of each. When a row of the same key is in the way, the items that are
 * `there` get `answerThere`, and the others are committed without them; when none of them is, the error goes on.
 */
export async function commitOnce<Item, Answer>(
  items: Item[],
  of: {
    commit: (items: Item[]) => Promise<Map<Item, Answer>>;
    /** Those of the items whose rows are in the ledger. */
    there: (items: Item[]) => Promise<Item[]>;
    answerThere: (item: Item) => Answer | Promise<Answer>;
  },
): Promise<Map<Item, Answer>> {
  try {
    return await of.commit(items);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const there = new Set(await of.there(items));
    if (there.size === 0) throw error;
    const others = items.filter((item) => !there.has(item));
    const answers = others.length > 0 ? await commitOnce(others, of) : new Map<Item, Answer>();
    for (const item of there) answers.set(item, await of.answerThere(item));
    return answers;
  }
}
