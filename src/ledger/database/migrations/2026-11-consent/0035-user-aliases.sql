-- Names under which a brand knows a user whom the ledger knows by an e-mail: of that brand alone.
create table user_aliases (
  brand_id text not null,
  alias_key text not null,
  user_key text not null,
  created_at bigint not null,
  primary key (brand_id, alias_key)
);
create index user_aliases_user on user_aliases (brand_id, user_key);

-- How often a brand's aliases were changed: beside its settings, and in the row that is locked to decide what it pays.
alter table brands add column aliases bigint not null default 0;
alter table brand_funds add column aliases bigint not null default 0;
