-- A mint whose key the sale has used in a transaction that this ledger did not send: it waits for nothing any more.
alter table mints add column shown_hash text;
alter table mints add column shown_block bigint;
alter table operator_mints add column shown_hash text;
alter table operator_mints add column shown_block bigint;
drop index mints_waiting;
create index mints_waiting on mints (created_at) where transaction_id is null and failure is null and shown_block is null;
create index mints_shown on mints (shown_block) where shown_block is not null;
drop index operator_mints_waiting;
create index operator_mints_waiting on operator_mints (created_at) where transaction_id is null and failure is null and shown_block is null;
create index operator_mints_shown on operator_mints (shown_block) where shown_block is not null;
