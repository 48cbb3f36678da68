-- Where brands want to be told, what they are told, and how each attempt went.
create table webhook_endpoints (
  id text primary key not null,
  brand_id text not null,
  url text not null,
  types jsonb not null,
  is_default boolean not null,
  secret text not null,
  previous_secret text,
  previous_secret_until bigint,
  failing_since bigint,
  last_failed_at bigint,
  paused_until bigint not null,
  disabled_at bigint,
  disabled_why text,
  created_at bigint not null
);
create index webhook_endpoints_brand on webhook_endpoints (brand_id);
create unique index webhook_endpoints_default on webhook_endpoints (brand_id) where is_default;

create table webhook_events (
  id text primary key not null,
  brand_id text not null,
  type text not null,
  subject text not null,
  body text not null,
  transaction_id text,
  created_at bigint not null
);
create unique index webhook_events_subject on webhook_events (type, subject);
create index webhook_events_created on webhook_events (created_at);
create index webhook_events_transaction on webhook_events (transaction_id);

create table webhook_deliveries (
  event_id text not null,
  endpoint_id text not null,
  state text not null,
  tries integer not null,
  attempts integer not null,
  next_attempt_at bigint not null,
  lease_until bigint not null,
  lease text,
  delivered_at bigint,
  primary key (event_id, endpoint_id)
);
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at) where state = 'waiting';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, event_id);

create table webhook_attempts (
  id text primary key not null,
  event_id text not null,
  endpoint_id text not null,
  at bigint not null,
  ms integer not null,
  status integer,
  why text,
  answer text
);
create index webhook_attempts_delivery on webhook_attempts (event_id, endpoint_id, at);
create index webhook_attempts_at on webhook_attempts (at);
