create table operator_mints (
  key text primary key not null,
  kind text not null,
  brand_id text not null,
  amount bigint not null,
  reason text not null,
  created_at bigint not null
);
create index operator_mints_brand on operator_mints (brand_id);
