/** Tables of the plugin. Times are milliseconds since 1970. */
export const PLUGIN_TABLES = `
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
