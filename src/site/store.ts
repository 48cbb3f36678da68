/** The site's own small store: users, sessions, settings and content in one SQLite file. */
import Database from 'better-sqlite3';

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

/** Tables of who can log in, and who is. Times are milliseconds since 1970; of secrets there are only SHA-256 digests. */
const ACCOUNT_TABLES = `
create table if not exists sessions (
  digest text primary key,
  user_id integer not null references users (id) on delete cascade,
  expires_at integer not null
) strict;
create table if not exists application_passwords (
  id integer primary key,
  user_id integer not null references users (id) on delete cascade,
  name text not null,
  digest text not null unique,
  created_at integer not null
) strict;
create table if not exists login_failures (
  key text primary key,
  failures integer not null,
  last_at integer not null,
  wait_until integer not null
) strict;
`;

/** Tables of what the site shows and sells. Times are milliseconds since 1970. */
const CONTENT_TABLES = `
create table if not exists posts (
  id integer primary key,
  slug text not null unique,
  title text not null,
  body text not null,
  author_id integer references users (id) on delete set null,
  published_at integer,
  -- Kept when a post becomes a draft again: it is announced once.
  announced_at integer,
  created_at integer not null
) strict;
create index if not exists posts_by_time on posts (published_at);
create table if not exists comments (
  id integer primary key,
  post_id integer not null references posts (id) on delete cascade,
  author_id integer references users (id) on delete set null,
  body text not null,
  created_at integer not null
) strict;
create index if not exists comments_by_post on comments (post_id, id);
create table if not exists products (
  id integer primary key,
  slug text not null unique,
  name text not null,
  description text not null,
  price_cents integer not null
) strict;
create table if not exists orders (
  id integer primary key,
  user_id integer not null references users (id) on delete cascade,
  product_id integer not null references products (id),
  quantity integer not null,
  total_cents integer not null,
  created_at integer not null
) strict;
create index if not exists orders_by_user on orders (user_id, id);
create table if not exists notices (
  browser text primary key,
  text text not null,
  is_bad integer not null,
  at integer not null
) strict;
`;

/** Tables of the plugin. Times are milliseconds since 1970. */
const PLUGIN_TABLES = `
create table if not exists daily_visits (
  email text not null collate nocase,
  event_name text not null,
  at integer not null,
  primary key (email, event_name)
) strict;
create table if not exists redemption_keys (
  email text not null collate nocase,
  perk_id text not null,
  key text not null,
  at integer not null,
  primary key (email, perk_id)
) strict;
create table if not exists debug_lines (id integer primary key autoincrement, at integer not null, text text not null) strict;
`;
