/** The latest requests of an emulator, newest first. */

/** Enough for a test run, and bounded in memory. */
const KEPT = 2_000;

export function createRequestLog<Entry extends { id: string }>() {
  const entries = new Map<string, Entry>();
  const newestFirst = () => [...entries.values()].reverse();
  return {
    add(entry: Entry) {
      entries.set(entry.id, entry);
      const [oldest] = entries.keys();
      if (entries.size > KEPT && oldest !== undefined) entries.delete(oldest);
    },
    /** `keep` chooses; at most `limit` entries, and with `after` only those younger than that one. */
    list(choice: { keep: (entry: Entry) => boolean; limit: number; after?: string | undefined }): Entry[] {
      const { keep, limit, after } = choice;
      const all = newestFirst();
      const known = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
      return (known === -1 ? all : all.slice(0, known)).filter(keep).slice(0, limit);
    },
    /** Every entry that `name` may mean: an id or its beginning, with or without `req_`, or `latest`. */
    find(name: string): Entry[] {
      if (name === 'latest') return newestFirst().slice(0, 1);
      const exact = entries.get(name);
      if (exact) return [exact];
      const beginning = name.startsWith('req_') ? name : `req_${name}`;
      return beginning === 'req_' ? [] : newestFirst().filter(({ id }) => id.startsWith(beginning));
    },
  };
}
