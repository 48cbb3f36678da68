-- RWT that users earned elsewhere, as callers of update-stats reported it.
create table leaderboard_reports (
  id text primary key not null,
  brand_id text not null,
  user_key text not null,
  platform text not null,
  amount bigint not null,
  claim_type text,
  with_brand_key boolean not null,
  created_at bigint not null
);
create index leaderboard_reports_user on leaderboard_reports (user_key, brand_id);
