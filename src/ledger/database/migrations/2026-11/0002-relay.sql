create table rate_windows (
  scope text not null,
  subject text not null,
  started_at bigint not null,
  used bigint not null,
  primary key (scope, subject)
);
create index rate_windows_started on rate_windows (started_at);
create table gas_wallets (
  payer text primary key not null,
  key_index bigint,
  address text not null,
  ready boolean not null,
  created_at bigint not null
);
create unique index gas_wallets_key_index on gas_wallets (key_index);
create unique index gas_wallets_address on gas_wallets (address);
create table gas_budgets (
  payer text not null,
  day bigint not null,
  spent_gwei bigint not null,
  primary key (payer, day)
);
create table relays (
  position bigint primary key not null,
  id text not null,
  lane text not null,
  payer text not null,
  user_address text not null,
  recipient text not null,
  data text not null,
  value_wei text not null,
  gas bigint not null,
  permit jsonb,
  reserved_gwei bigint not null,
  budget_day bigint not null,
  created_at bigint not null,
  permit_transaction_id text,
  transaction_id text
);
create unique index relays_id on relays (id);
create index relays_transaction on relays (transaction_id);
create index relays_waiting on relays (lane, position) where transaction_id is null;
create table gas_top_ups (
  id text primary key not null,
  lane text not null,
  wallet text not null,
  amount_wei text not null,
  created_at bigint not null,
  transaction_id text
);
create index gas_top_ups_waiting on gas_top_ups (lane, created_at) where transaction_id is null;
alter table transactions add column gas_used bigint;
alter table transactions add column gas_price_wei text;
create table oauth_identities (
  provider text not null,
  provider_user_id text not null,
  user_key text not null,
  idp_user_id text not null,
  username text,
  created_at bigint not null,
  primary key (provider, provider_user_id)
);
create index oauth_identities_user on oauth_identities (user_key);
