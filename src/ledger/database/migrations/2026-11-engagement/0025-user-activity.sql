-- Messages, minutes in voice channels and reactions of users, as callers of update-stats reported them.
create table user_activity (
  brand_id text not null,
  user_key text not null,
  messages bigint not null,
  voice_minutes bigint not null,
  reactions bigint not null,
  primary key (brand_id, user_key)
);
