-- Checkouts of callers without a key are counted by where they came from, and those that the processor's events call paid are looked at first.
alter table checkout_sessions add column opened_from text;
alter table checkout_sessions add column hinted_at bigint;
create index checkout_sessions_opened on checkout_sessions (opened_from, expires_at) where opened_from is not null;
create index checkout_sessions_keyless on checkout_sessions (brand_id, expires_at) where opened_from is not null;
create index checkout_sessions_hinted on checkout_sessions (hinted_at) where hinted_at is not null and next_look_at is not null;
create index checkout_sessions_unattached on checkout_sessions (created_at) where processor_session_id is null and next_look_at is not null;
