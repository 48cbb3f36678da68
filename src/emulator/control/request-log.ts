/** The latest requests of an emulator, newest first. */

/** What makes most of an entry's size: all of it is a caller's text. */
interface Texts {
  id: string;
  path?: string;
  search?: string;
  origin?: string | undefined;
  traces?: unknown[];
  requestBody?: string | undefined;
  responseBody?: string | undefined;
}

/** Beside its texts an entry has its times and its status. */
const ENTRY_BYTES = 1_024;
/** How one event was decided: its fields, brand, rule and counters. */
const TRACE_BYTES = 4_096;

function bytesOf(entry: Texts): number {
  const { path = '', search = '', origin = '', requestBody = '', responseBody = '', traces = [] } = entry;
  const texts = [path, search, origin, requestBody, responseBody];
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  // Texts take two bytes a character where one of them is not Latin.
  return ENTRY_BYTES + TRACE_BYTES * traces.length + 2 * characters;
}

/** The oldest entries make room for a new one: it is kept whatever its size. */
export function createRequestLog<Entry extends Texts>(limits: { entriesMax: number; bytesMax: number }) {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  const newestFirst = () => [...entries.values()].reverse();
  return {
    add(entry: Entry) {
      entries.set(entry.id, entry);
      bytes += bytesOf(entry);
      for (const [id, oldest] of entries) {
        const fits = entries.size <= limits.entriesMax && bytes <= limits.bytesMax;
        if (fits || entries.size === 1) break;
        entries.delete(id);
        bytes -= bytesOf(oldest);
      }
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
