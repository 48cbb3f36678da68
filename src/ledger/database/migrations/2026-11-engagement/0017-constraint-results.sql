-- What brands' servers said about buyers, for as long as it counts.
create table constraint_results (
  brand_id text not null,
  url text not null,
  user_address text not null,
  collection_id bigint not null,
  asked_by text not null,
  is_met boolean,
  message text,
  expires_at bigint not null,
  primary key (brand_id, url, user_address, collection_id)
);
create index constraint_results_user on constraint_results (user_address);
create index constraint_results_expiry on constraint_results (expires_at);
