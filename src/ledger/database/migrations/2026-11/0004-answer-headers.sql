-- Null: the answer was kept before headers were.
alter table idempotency_keys add column headers jsonb;
