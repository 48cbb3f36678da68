/** The site's own small store: users, sessions, settings and content in one SQLite file. */
import Database from 'better-sqlite3';
import { ACCOUNT_TABLES } from './account-tables.ts';
import { CONTENT_TABLES } from './content-tables.ts';
import { PLUGIN_TABLES } from './plugin-tables.ts';

export type SiteStore = Database.Database;

/** Opens the file, or a store in memory for `:memory:`, and makes the tables that it lacks. */
export function openSiteStore(path: string): SiteStore {
  const store = new Database(path);
  try {
    prepare(store, path);
  } catch (error) {
    store.close();
    throw error;
  }
  return store;
}

/** Raised with a change of the tables that earlier programs could not work with. */
const VERSION = 1;

/** A store that a newer program has written; the code and the fix are those of a ledger. */
class StoreNewerError extends Error {
  readonly code = 'E_LEDGER_NEWER';
  readonly fix = 'Run the newer version, or keep the store elsewhere.';
}

function prepare(store: SiteStore, path: string): void {
  const version = Number(store.pragma('user_version', { simple: true }));
  if (version > VERSION) {
    throw new StoreNewerError(
      `The site's store ${path} is of a newer version of rewards: its version is ${version}, and ${VERSION} is the newest that this one knows.`,
    );
  }
  store.pragma('journal_mode = WAL');
  store.pragma('synchronous = NORMAL');
  store.pragma('foreign_keys = ON');
  for (const tables of [TABLES, ACCOUNT_TABLES, PLUGIN_TABLES, CONTENT_TABLES]) store.exec(tables);
  store.pragma(`user_version = ${VERSION}`);
}

/** Times are milliseconds since 1970. */
const TABLES = `
create table if not exists settings (name text primary key, value text not null) strict;
create table if not exists users (
  id integer primary key,
  login text not null unique collate nocase,
  email text not null unique collate nocase,
  display_name text not null,
  role text not null,
  password_hash text,
  created_at integer not null
) strict;
`;
