-- Which payouts the leaderboards have counted: those from before are counted once the service runs.
alter table transactions add column on_boards boolean not null default false;
create index transactions_uncounted on transactions (id) where purpose = 'payout' and outcome = 'done' and not on_boards;
-- Where the user was when the reward was earned; null for rewards from before, and where nobody said so.
alter table rewards add column platform text;
-- Scores of boards that ended long ago are deleted; nothing is counted on them any more.
alter table leaderboards add column closed boolean not null default false;
