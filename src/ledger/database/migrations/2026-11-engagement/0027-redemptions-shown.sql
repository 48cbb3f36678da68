-- From which block on the chain itself shows what a redemption took: a stock that was read before counts it still.
alter table redemptions add column shown_from bigint not null default 9007199254740991;
update redemptions set shown_from = coalesce(
  (select block_number from transactions where transactions.id = redemptions.transaction_id), 0
) where settled_at is not null and failure is null;
drop index redemptions_open_wallet;
drop index redemptions_open_token;
create index redemptions_of_wallet on redemptions (wallet, shown_from) where failure is null;
create index redemptions_of_token on redemptions (token_id, shown_from) where failure is null;
