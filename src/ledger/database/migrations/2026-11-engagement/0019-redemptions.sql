-- Perks that users take for RWT, each debited once on chain.
create table redemptions (
  id text primary key not null,
  key text not null,
  brand_id text not null,
  perk_id text not null,
  token_id bigint not null,
  user_key text not null,
  user_email text,
  wallet text not null,
  cost bigint not null,
  confirmation_code text not null,
  created_at bigint not null,
  transaction_id text,
  failure text,
  settled_at bigint,
  used_at bigint
);
create unique index redemptions_key on redemptions (key);
create unique index redemptions_code on redemptions (confirmation_code);
create index redemptions_transaction on redemptions (transaction_id);
create index redemptions_brand on redemptions (brand_id, created_at);
create index redemptions_user on redemptions (user_key, brand_id);
create index redemptions_waiting on redemptions (created_at) where transaction_id is null and failure is null;
create index redemptions_open_wallet on redemptions (wallet) where settled_at is null and failure is null;
create index redemptions_open_token on redemptions (token_id) where settled_at is null and failure is null;
-- Locked while a redemption of this wallet is admitted.
create table redeemers (
  wallet text primary key not null,
  redemptions bigint not null
);
