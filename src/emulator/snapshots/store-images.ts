/** Whole SQLite stores as bytes: taken from the running stack in one moment, and looked into. */
import { existsSync } from 'node:fs';
import SQLite from 'better-sqlite3';

/** Bytes 18 and 19 of a store say that it has a write-ahead log, which a store in memory cannot have. */
const WRITE_VERSION_AT = 18;
const READ_VERSION_AT = 19;
const WITHOUT_LOG = 1;

/**
 * The store as its last commit left it, write-ahead log included; undefined where there is no file. It is read at once,
 * without a turn of the event loop: two images that are taken one after the other are of one moment of this process.
 */
export const imageOf = (path: string): Buffer | undefined => readStore(path, serialized);

/** A ledger's image, and where its chain ends in it. */
export const ledgerImageOf = (path: string): { ledger: Buffer; end: JournalEnd | undefined } | undefined =>
  readStore(path, (store) => ({ ledger: serialized(store), end: journalEnd(looking(store)) }));

function readStore<Seen>(path: string, see: (store: SQLite.Database) => Seen): Seen | undefined {
  if (!existsSync(path)) return undefined;
  const store = new SQLite(path, { readonly: true });
  try {
    return see(store);
  } finally {
    store.close();
  }
}

function serialized(store: SQLite.Database): Buffer {
  const image = store.serialize();
  image[WRITE_VERSION_AT] = WITHOUT_LOG;
  image[READ_VERSION_AT] = WITHOUT_LOG;
  return image;
}

export type Row = Record<string, string | number | bigint | Buffer | null>;

export interface OpenImage {
  tables(): string[];
  /** How many rows each table has. */
  counts(): Record<string, number>;
  /** What else than tables and indexes the store has: a store of ours has nothing. */
  strangers(): string[];
  /** The first thing that is wrong with its pages; undefined for a sound store. */
  damage(): string | undefined;
  columns(table: string): { name: string; isKey: boolean }[];
  all(sql: string, ...values: unknown[]): Row[];
  close(): void;
}

/** Opens an image in memory. Throws where the bytes are not a store. */
export function openImage(image: Buffer): OpenImage {
  const store = new SQLite(image);
  // What a stranger has put into the schema runs nothing.
  store.pragma('trusted_schema = OFF');
  return looking(store);
}

function looking(store: SQLite.Database): OpenImage {
  const all = (sql: string, ...values: unknown[]) => store.prepare<unknown[], Row>(sql).all(...values);
  const tables = () =>
    all(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name`).map(
      ({ name }) => String(name),
    );
  return {
    tables,
    counts: () =>
      Object.fromEntries(
        tables().map((table) => [table, Number(all(`select count(*) as n from ${quoted(table)}`)[0]?.n)]),
      ),
    strangers: () =>
      all(`select type, name from sqlite_master where type not in ('table', 'index')`).map(
        ({ type, name }) => `${type} ${name}`,
      ),
    damage() {
      const [first] = all('pragma quick_check(1)');
      const said = String(Object.values(first ?? {})[0]);
      return said === 'ok' ? undefined : said;
    },
    columns: (table) =>
      all(`select name, pk from pragma_table_info(?) order by cid`, table).map(({ name, pk }) => ({
        name: String(name),
        isKey: Number(pk) > 0,
      })),
    all,
    close: () => void store.close(),
  };
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export interface JournalEnd {
  block: number;
  hash: string;
  timestampSeconds: number;
}

/** Where a ledger's chain ends, as its journal has it; undefined for an empty one. */
export function journalEnd(store: OpenImage): JournalEnd | undefined {
  const [row] = store.all(
    'select number, hash, timestamp_seconds as at from journal_blocks order by number desc limit 1',
  );
  if (!row) return undefined;
  return { block: Number(row.number), hash: String(row.hash), timestampSeconds: Number(row.at) };
}

/** The newest migration of a ledger. */
export const newestMigration = (store: OpenImage): number =>
  Number(store.all('select max(number) as n from migrations')[0]?.n ?? 0);
