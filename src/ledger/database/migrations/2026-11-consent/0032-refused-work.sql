-- What the chain refused waits with growing pauses, outside the window that a lane looks at.
alter table redemptions add column waiting_since bigint not null default 0;
alter table redemptions add column refusals integer not null default 0;
alter table redemptions add column next_try_at bigint not null default 0;
alter table redemptions add column refusal text;
update redemptions set waiting_since = created_at;
alter table perk_terms add column refusals integer not null default 0;
alter table perk_terms add column next_try_at bigint not null default 0;
alter table perk_terms add column refusal text;
alter table mints add column refusals integer not null default 0;
alter table mints add column next_try_at bigint not null default 0;
alter table mints add column refusal text;
alter table operator_mints add column refusals integer not null default 0;
alter table operator_mints add column next_try_at bigint not null default 0;
alter table operator_mints add column refusal text;
