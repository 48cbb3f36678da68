-- What the contract is to be told of perks, in order.
create table perk_terms (
  token_id bigint not null,
  position integer not null,
  perk_id text not null,
  brand_id text not null,
  kind text not null,
  price bigint not null,
  active boolean not null,
  stock bigint not null,
  created_at bigint not null,
  transaction_id text,
  failed_tries integer not null,
  failure text,
  primary key (token_id, position)
);
create index perk_terms_transaction on perk_terms (transaction_id);
create index perk_terms_waiting on perk_terms (token_id) where transaction_id is null and failure is null;
