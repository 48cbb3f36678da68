create table brand_spending (
  brand_id text not null,
  span text not null,
  started_at bigint not null,
  spent bigint not null,
  primary key (brand_id, span)
);
