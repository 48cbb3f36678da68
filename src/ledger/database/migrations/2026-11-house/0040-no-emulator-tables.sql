-- Tables of the emulator, which earlier versions made in every ledger. What has rows stays (`keepsRows` in migrate.ts).
drop table journal_blocks;
drop table emulated_processor_objects;
drop table emulated_processor_deliveries;
drop table emulated_processor_keys;
drop table emulated_chat_standings;
