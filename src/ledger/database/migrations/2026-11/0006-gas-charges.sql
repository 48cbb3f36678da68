-- Null: the call was settled before the budget's charge was kept.
alter table relays add column charged_gwei bigint;
update relays set charged_gwei = reserved_gwei
  where transaction_id is null
    or transaction_id in (select id from transactions where status <> 'final');
create index relays_permit_transaction on relays (permit_transaction_id);
create table gas_shares (
  payer text not null,
  day bigint not null,
  user_address text not null,
  spent_gwei bigint not null,
  primary key (payer, day, user_address)
);
-- What a chain asks for its data on another chain, beside gas.
alter table transactions add column l1_fee_wei text;
create table pregenerated_users (
  brand_id text not null,
  user_key text not null,
  primary key (brand_id, user_key)
);
create index wallets_address on wallets (address);
