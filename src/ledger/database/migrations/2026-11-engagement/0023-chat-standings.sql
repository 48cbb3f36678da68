-- How a buyer stood in the chat when the brand's server was asked, and the chat of the emulator.
alter table constraint_results add column standing text;
create table emulated_chat_standings (
  brand_id text not null,
  platform text not null,
  user_key text not null,
  level bigint not null,
  roles jsonb not null,
  primary key (brand_id, platform, user_key)
);
