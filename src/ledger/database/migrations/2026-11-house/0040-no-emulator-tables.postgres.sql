-- Tables of the emulator, which earlier versions made in every ledger, go where nothing was ever written into them.
-- The locks keep a running emulator from writing between the look and the drop.
do $$
begin
  lock table journal_blocks in access exclusive mode;
  if not exists (select 1 from journal_blocks) then
    drop table journal_blocks;
  end if;
  lock table emulated_processor_objects in access exclusive mode;
  if not exists (select 1 from emulated_processor_objects) then
    drop table emulated_processor_objects;
  end if;
  lock table emulated_processor_deliveries in access exclusive mode;
  if not exists (select 1 from emulated_processor_deliveries) then
    drop table emulated_processor_deliveries;
  end if;
  lock table emulated_processor_keys in access exclusive mode;
  if not exists (select 1 from emulated_processor_keys) then
    drop table emulated_processor_keys;
  end if;
  lock table emulated_chat_standings in access exclusive mode;
  if not exists (select 1 from emulated_chat_standings) then
    drop table emulated_chat_standings;
  end if;
end $$;
