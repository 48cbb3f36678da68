/** Tables of who can log in, and who is. Times are milliseconds since 1970; of secrets there are only SHA-256 digests. */
export const ACCOUNT_TABLES = `
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
