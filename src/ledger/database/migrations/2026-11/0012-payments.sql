create table checkout_sessions (
  id text primary key not null,
  brand_id text not null,
  user_email text,
  wallet text not null,
  amount_cents bigint not null,
  currency text not null,
  rwt_amount bigint not null,
  mint_to text not null,
  processor_session_id text,
  url text,
  livemode boolean not null,
  payment_intent_id text,
  payment_status text,
  state text not null,
  created_at bigint not null,
  expires_at bigint not null,
  next_look_at bigint,
  refunded_cents bigint not null,
  disputed_at bigint
);
create unique index checkout_sessions_processor on checkout_sessions (processor_session_id);
create index checkout_sessions_intent on checkout_sessions (payment_intent_id);
create index checkout_sessions_brand on checkout_sessions (brand_id, created_at);
create index checkout_sessions_look on checkout_sessions (next_look_at) where next_look_at is not null;
create table mints (
  session_id text primary key not null,
  key text not null,
  kind text not null,
  brand_id text not null,
  wallet text not null,
  usd_cents bigint not null,
  rwt_amount bigint not null,
  payment_intent_id text,
  created_at bigint not null,
  transaction_id text,
  failed_tries integer not null,
  failure text
);
create unique index mints_key on mints (key);
create index mints_transaction on mints (transaction_id);
create index mints_waiting on mints (created_at) where transaction_id is null and failure is null;
create table processor_events (
  id text primary key not null,
  type text not null,
  object_id text not null,
  created_at bigint not null,
  received_at bigint not null,
  result text not null
);
create index processor_events_object on processor_events (object_id);
create index processor_events_received on processor_events (received_at);
-- Mints by hand can go to any account, and the service sends those of kind wallet and escrow itself.
drop index operator_mints_brand;
alter table operator_mints rename column brand_id to recipient;
alter table operator_mints add column transaction_id text;
alter table operator_mints add column failed_tries integer not null default 0;
alter table operator_mints add column failure text;
create index operator_mints_recipient on operator_mints (recipient);
create index operator_mints_transaction on operator_mints (transaction_id);
create index operator_mints_waiting on operator_mints (created_at) where transaction_id is null and failure is null;
