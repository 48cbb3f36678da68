create table brands (
  brand_id text primary key not null,
  name text not null,
  automation boolean not null,
  profile jsonb not null,
  verification_secret text not null,
  created_at bigint not null
);
create table brand_domains (
  domain text not null,
  brand_id text not null,
  source text not null,
  primary key (domain, brand_id)
);
create table brand_keys (
  key_id text primary key not null,
  brand_id text not null,
  digest text not null,
  created_at bigint not null,
  expires_at bigint
);
create table idempotency_keys (
  scope text not null,
  key text not null,
  request_digest text not null,
  effect_id text not null,
  busy_until bigint not null,
  status integer,
  body text,
  created_at bigint not null,
  primary key (scope, key)
);
create index idempotency_keys_created on idempotency_keys (created_at);
create table event_rules (
  brand_id text not null,
  event_type text not null,
  position integer not null,
  active boolean not null,
  reward_amount bigint not null,
  max_claims bigint not null,
  max_total_claims bigint not null,
  cooldown_ms bigint not null,
  detail jsonb not null,
  primary key (brand_id, event_type)
);
create table claim_counters (
  brand_id text not null,
  event_type text not null,
  user_key text not null,
  claims bigint not null,
  last_at bigint not null,
  last_reward_id text not null,
  last_amount bigint not null,
  terms_max_claims bigint not null,
  terms_last_before bigint not null,
  primary key (brand_id, event_type, user_key)
);
create table claim_totals (
  brand_id text not null,
  event_type text not null,
  claims bigint not null,
  primary key (brand_id, event_type)
);
create table brand_funds (
  brand_id text primary key not null,
  deposited bigint not null,
  promised bigint not null
);
create table movements (
  id text primary key not null,
  kind text not null,
  brand_id text not null,
  amount bigint not null,
  transaction_hash text not null,
  log_index integer not null,
  block_number bigint not null,
  created_at bigint not null
);
create unique index movements_log on movements (transaction_hash, log_index);
create table counters (
  name text primary key not null,
  next bigint not null
);
create table wallets (
  user_key text primary key not null,
  address text not null,
  derivation_index bigint,
  created_at bigint not null
);
create unique index wallets_derivation_index on wallets (derivation_index);
create table rewards (
  sequence bigint primary key not null,
  id text not null,
  brand_id text not null,
  event_type text not null,
  user_key text not null,
  user_email text,
  wallet text not null,
  wallet_created boolean not null,
  amount bigint not null,
  metadata jsonb not null,
  created_at bigint not null,
  transaction_id text,
  failed_tries integer not null,
  failure text,
  released_at bigint
);
create index rewards_failed on rewards (sequence) where failure is not null and released_at is null;
create unique index rewards_id on rewards (id);
create index rewards_user on rewards (user_key, sequence);
create index rewards_waiting on rewards (sequence) where transaction_id is null and failure is null;
create table lanes (
  address text primary key not null,
  purpose text not null,
  owner text not null,
  epoch bigint not null,
  lease_until bigint not null
);
create table transactions (
  id text primary key not null,
  lane text not null,
  nonce bigint not null,
  purpose text not null,
  status text not null,
  epoch bigint not null,
  hash text not null,
  block_number bigint,
  block_hash text,
  outcome text,
  created_at bigint not null
);
create unique index transactions_nonce on transactions (lane, nonce);
create index transactions_open on transactions (lane, nonce) where status <> 'final';
create table attempts (
  hash text primary key not null,
  transaction_id text not null references transactions (id),
  attempt integer not null,
  kind text not null,
  raw text not null,
  max_fee_wei text not null,
  priority_fee_wei text not null,
  created_at bigint not null
);
create unique index attempts_of_transaction on attempts (transaction_id, attempt);
create table followed_blocks (
  number bigint primary key not null,
  hash text not null
);
create table journal_blocks (
  number bigint primary key not null,
  first_number bigint not null,
  hash text not null,
  parent_hash text not null,
  timestamp_seconds bigint not null,
  interval_seconds bigint not null,
  base_fee_wei text not null,
  raw_transactions jsonb not null
);
create table facts (
  name text primary key not null,
  value jsonb not null
);
