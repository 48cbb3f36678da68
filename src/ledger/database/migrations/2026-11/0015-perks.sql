-- What brands offer for RWT; the token is the perk on chain.
create table perks (
  id text primary key not null,
  brand_id text not null,
  token_id bigint not null,
  name text not null,
  description text not null,
  category text not null,
  cost bigint not null,
  stock bigint not null,
  image text,
  metadata jsonb not null,
  active boolean not null,
  constraints jsonb not null,
  created_at bigint not null
);
create unique index perks_token on perks (token_id);
create index perks_brand on perks (brand_id, token_id);
