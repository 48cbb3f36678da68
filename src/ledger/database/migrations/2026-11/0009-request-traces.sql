create table request_traces (
  id text primary key not null,
  at bigint not null,
  method text not null,
  path text not null,
  status integer not null,
  user_hash text,
  detail jsonb not null
);
create index request_traces_at on request_traces (at);
create index request_traces_user on request_traces (user_hash, at);
