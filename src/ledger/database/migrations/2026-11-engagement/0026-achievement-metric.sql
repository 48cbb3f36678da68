-- By what an achievement was unlocked: the brand may count something else for it later. Null for unlocks of before.
alter table achievement_progress add column unlocked_by text;
