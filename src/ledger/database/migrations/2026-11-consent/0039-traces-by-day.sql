-- The key has the time in it, as Postgres wants it of a table that it keeps in parts by time (0039-traces-by-day.postgres.sql).
create table traces_by_day (
  id text not null,
  at bigint not null,
  method text not null,
  path text not null,
  status integer not null,
  user_hash text,
  detail jsonb not null,
  primary key (id, at)
);
insert into traces_by_day select id, at, method, path, status, user_hash, detail from request_traces;
drop table request_traces;
alter table traces_by_day rename to request_traces;
create index request_traces_at on request_traces (at);
create index request_traces_user on request_traces (substr(id, 5, 3), user_hash) where user_hash is not null;
