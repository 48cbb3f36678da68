create table retired_lanes (
  lane text primary key not null,
  retired_by text not null,
  reason text not null,
  created_at bigint not null
);
