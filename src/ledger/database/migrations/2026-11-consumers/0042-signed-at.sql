alter table webhook_attempts add column signed_at bigint;
