-- Leaderboards: scores of users by week, month and ever, and how many users have each score.
create table leaderboards (
  id bigint primary key not null,
  brand_id text not null,
  period text not null,
  platform text not null,
  starts_at bigint not null,
  ends_at bigint not null
);
create unique index leaderboards_window on leaderboards (brand_id, period, platform, starts_at);
create index leaderboards_end on leaderboards (ends_at);

create table leaderboard_scores (
  board_id bigint not null,
  user_key text not null,
  rwt_earned bigint not null,
  claims bigint not null,
  activity bigint not null,
  streak bigint not null,
  streak_before bigint not null,
  primary key (board_id, user_key)
);
create index leaderboard_scores_rwt on leaderboard_scores (board_id, rwt_earned, user_key) where rwt_earned > 0;
create index leaderboard_scores_claims on leaderboard_scores (board_id, claims, user_key) where claims > 0;
create index leaderboard_scores_activity on leaderboard_scores (board_id, activity, user_key) where activity > 0;
create index leaderboard_scores_streak on leaderboard_scores (board_id, streak, user_key) where streak > 0;

create table leaderboard_ranks (
  board_id bigint not null,
  metric text not null,
  level integer not null,
  node bigint not null,
  users bigint not null,
  primary key (board_id, metric, level, node)
);

create table leaderboard_users (
  brand_id text not null,
  user_key text not null,
  display_name text,
  platform text not null,
  primary key (brand_id, user_key)
);
