-- False: of bytes that were stored before, it is not known which nodes have them.
alter table attempts add column refused boolean not null default false;
