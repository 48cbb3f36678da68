-- A part for each day, which is dropped as a whole: deleted rows would have to be read, logged and vacuumed. What is there
-- becomes the part of all days up to tomorrow, so that processes of the version before, which make no parts, write on meanwhile.
alter table request_traces rename to request_traces_before;
alter index request_traces_at rename to request_traces_before_at;
alter index request_traces_user rename to request_traces_before_user;
alter table request_traces_before drop constraint request_traces_pkey;
create table request_traces (
  id text not null,
  at bigint not null,
  method text not null,
  path text not null,
  status integer not null,
  user_hash text,
  detail jsonb not null,
  primary key (id, at)
) partition by range (at);
create index request_traces_at on request_traces (at);
create index request_traces_user on request_traces (substr(id, 5, 3), user_hash) where user_hash is not null;
do $$
declare
  day bigint := 86400000;
  until bigint;
  name text;
begin
  -- Servers that are built without it compress with their own method.
  begin
    execute 'alter table request_traces alter column detail set compression lz4';
    execute 'alter table request_traces_before alter column detail set compression lz4';
  exception when others then null;
  end;
  if not exists (select 1 from request_traces_before) then
    drop table request_traces_before;
    return;
  end if;
  select (greatest(max(at), cast(extract(epoch from clock_timestamp()) * 1000 as bigint)) / day + 2) * day
    into until from request_traces_before;
  name := 'request_traces_until_' || to_char(to_timestamp(until / 1000) at time zone 'UTC', 'YYYYMMDD');
  execute format('alter table request_traces_before rename to %I', name);
  execute format('alter table %I add primary key (id, at)', name);
  execute format('alter table request_traces attach partition %I for values from (minvalue) to (%s)', name, until);
end $$;
