-- How often a record that proves a domain was missing since it was last found, and when a miss last counted.
alter table brand_domains add column misses integer not null default 0;
alter table brand_domains add column missed_at bigint;
