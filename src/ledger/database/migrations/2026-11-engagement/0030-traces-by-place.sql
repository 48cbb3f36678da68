-- Requests of the same moment have the same first digits (src/lib/ids.ts): their rows lie side by side in this index, where
-- users by themselves would be on as many pages as there are users.
drop index request_traces_user;
create index request_traces_user on request_traces (substr(id, 5, 3), user_hash) where user_hash is not null;
