-- On whose word each redemption is paid; those that were admitted before anybody was asked say so.
alter table redemptions add column consent text not null default 'unasked';
alter table redemptions add column permit jsonb;
alter table redemptions add column permit_id text;
create unique index redemptions_permit on redemptions (permit_id) where permit_id is not null and failure is null;
