/** Tables of what the site shows and sells. Times are milliseconds since 1970. */

export const CONTENT_TABLES = `
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
