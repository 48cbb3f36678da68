-- On which of the latest days users were active: the last of them, a colon, and hex digits whose bit n stands for n days
-- before it. Empty where only the day of the last activity is known.
alter table streaks add column days_seen text not null default '';
