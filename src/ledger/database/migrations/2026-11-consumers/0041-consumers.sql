-- The feed that consumers read: each payout, mint and redemption that a block shows as done has its position, 0 from before.
alter table transactions add column feed_position bigint;
-- Payouts that no leaderboard has counted yet come first; everything else has had its consequences.
update transactions set feed_position = uncounted.place
from (
  select id, row_number() over (order by id) as place from transactions
  where purpose = 'payout' and outcome = 'done' and not on_boards
) as uncounted
where uncounted.id = transactions.id;
update transactions set feed_position = 0
where feed_position is null and outcome = 'done' and purpose in ('payout', 'mint', 'redeem');
create unique index transactions_feed on transactions (feed_position) where feed_position > 0;
-- The last position of the feed when a block was booked.
alter table followed_blocks add column feed_position bigint not null default 0;
update followed_blocks set feed_position = (select coalesce(max(feed_position), 0) from transactions);
-- Facts that a reorganisation took back, each with the position that it had.
create table feed_take_backs (
  position bigint primary key not null,
  booked_position bigint not null,
  transaction_id text not null,
  purpose text not null,
  sequences jsonb not null
);
create index feed_take_backs_booked on feed_take_backs (booked_position);
-- How far each consumer has read.
create table consumer_positions (
  consumer text primary key not null,
  position bigint not null
);
insert into consumer_positions (consumer, position) values ('boards', 0);
insert into consumer_positions (consumer, position) select 'achievements', coalesce(max(feed_position), 0) from transactions;
insert into consumer_positions (consumer, position) select 'webhooks', coalesce(max(feed_position), 0) from transactions;
-- Facts of one brand that a consumer could not digest, and tries again.
create table consumer_set_aside (
  consumer text not null,
  brand_id text not null,
  after_position bigint not null,
  up_to_position bigint not null,
  tries integer not null,
  next_try_at bigint not null,
  error text not null,
  primary key (consumer, brand_id, up_to_position)
);
drop index transactions_uncounted;
alter table transactions drop column on_boards;
