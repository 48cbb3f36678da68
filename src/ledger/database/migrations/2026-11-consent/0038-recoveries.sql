-- Recoveries of a ledger that had lost commits, and each row that they wrote.
create table recoveries (
  id text primary key not null,
  started_at bigint not null,
  finished_at bigint,
  agreed_block bigint,
  head_block bigint not null,
  began_with jsonb not null
);
create table recovered_rows (
  kind text not null,
  row_id text not null,
  recovery_id text not null,
  detail jsonb not null,
  primary key (kind, row_id)
);
create index recovered_rows_recovery on recovered_rows (recovery_id, kind);
