-- What users were rewarded for, where a rule pays once for each: the order, the tweet, by a field of the event's metadata.
create table once_claims (
  brand_id text not null,
  event_type text not null,
  user_key text not null,
  field text not null,
  value text not null,
  reward_id text not null,
  amount bigint not null,
  claimed_at bigint not null,
  primary key (brand_id, event_type, user_key, field, value)
);
