-- The emulated payment processor of `rewards serve`: what another company would keep. Empty in production.
create table emulated_processor_objects (
  id text primary key not null,
  kind text not null,
  number bigint not null,
  about text,
  created_at bigint not null,
  due_at bigint,
  body jsonb not null,
  notes jsonb not null
);
create unique index emulated_processor_objects_number on emulated_processor_objects (number);
create index emulated_processor_objects_kind on emulated_processor_objects (kind, number);
create index emulated_processor_objects_about on emulated_processor_objects (about, kind);
create index emulated_processor_objects_due on emulated_processor_objects (due_at);

create table emulated_processor_deliveries (
  id text primary key not null,
  event_id text not null,
  endpoint_id text not null,
  number bigint not null,
  state text not null,
  created_at bigint not null,
  next_at bigint,
  attempts jsonb not null
);
create unique index emulated_processor_deliveries_number on emulated_processor_deliveries (number);
create index emulated_processor_deliveries_event on emulated_processor_deliveries (event_id);
create index emulated_processor_deliveries_next on emulated_processor_deliveries (next_at);

create table emulated_processor_keys (
  key text primary key not null,
  digest text not null,
  request_id text not null,
  status integer not null,
  answer text not null,
  created_at bigint not null
);
