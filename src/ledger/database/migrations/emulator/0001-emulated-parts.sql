-- What only `rewards serve` keeps in its ledger. Versions before this set made the same tables in every ledger, so that they
-- may be there already, with what an emulator has written into them.
create table if not exists journal_blocks (
  number bigint primary key not null,
  first_number bigint not null,
  hash text not null,
  parent_hash text not null,
  timestamp_seconds bigint not null,
  interval_seconds bigint not null,
  base_fee_wei text not null,
  raw_transactions jsonb not null
);

create table if not exists emulated_processor_objects (
  id text primary key not null,
  kind text not null,
  number bigint not null,
  about text,
  created_at bigint not null,
  due_at bigint,
  body jsonb not null,
  notes jsonb not null
);
create unique index if not exists emulated_processor_objects_number on emulated_processor_objects (number);
create index if not exists emulated_processor_objects_kind on emulated_processor_objects (kind, number);
create index if not exists emulated_processor_objects_about on emulated_processor_objects (about, kind);
create index if not exists emulated_processor_objects_due on emulated_processor_objects (due_at);

create table if not exists emulated_processor_deliveries (
  id text primary key not null,
  event_id text not null,
  endpoint_id text not null,
  number bigint not null,
  state text not null,
  created_at bigint not null,
  next_at bigint,
  attempts jsonb not null
);
create unique index if not exists emulated_processor_deliveries_number on emulated_processor_deliveries (number);
create index if not exists emulated_processor_deliveries_event on emulated_processor_deliveries (event_id);
create index if not exists emulated_processor_deliveries_next on emulated_processor_deliveries (next_at);

create table if not exists emulated_processor_keys (
  key text primary key not null,
  digest text not null,
  request_id text not null,
  status integer not null,
  answer text not null,
  created_at bigint not null
);

create table if not exists emulated_chat_standings (
  brand_id text not null,
  platform text not null,
  user_key text not null,
  level bigint not null,
  roles jsonb not null,
  primary key (brand_id, platform, user_key)
);
