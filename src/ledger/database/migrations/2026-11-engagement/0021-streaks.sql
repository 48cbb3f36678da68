-- How many days in a row users were active, by type of streak.
create table streaks (
  brand_id text not null,
  user_key text not null,
  streak_type text not null,
  current_days bigint not null,
  longest_days bigint not null,
  total_days bigint not null,
  last_day bigint not null,
  last_at bigint not null,
  grace_used boolean not null,
  primary key (brand_id, user_key, streak_type)
);

-- The milestones whose bonus users claimed.
create table streak_milestones (
  brand_id text not null,
  user_key text not null,
  streak_type text not null,
  days bigint not null,
  bonus bigint not null,
  reward_id text,
  claimed_at bigint not null,
  primary key (brand_id, user_key, streak_type, days)
);
