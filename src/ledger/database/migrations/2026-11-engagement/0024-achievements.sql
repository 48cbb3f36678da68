-- How far users are with their brands' achievements, and when they reached them.
create table achievement_progress (
  brand_id text not null,
  user_key text not null,
  achievement_type text not null,
  progress bigint not null,
  unlocked_at bigint,
  primary key (brand_id, user_key, achievement_type)
);
