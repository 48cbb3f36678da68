/** The tables that only `serve` has: in no ledger of `start`, and kept where an earlier version has written into them. */
import { expect, test } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate, migrations, pendingMigrations } from '../../src/ledger/database/migrate.ts';
import { emulatedStandings, setEmulatedStanding } from '../../src/ledger/emulator/chat.ts';
import { emulatorMigrations } from '../../src/ledger/emulator/migrations.ts';
import { onEveryDatabase } from '../kits/databases/databases.ts';

const OF_EMULATOR = [
  'emulated_chat_standings',
  'emulated_processor_deliveries',
  'emulated_processor_keys',
  'emulated_processor_objects',
  'journal_blocks',
];
const ofEmulator = async (database: Database) =>
  [...(await database.tables()).keys()].filter((name) => OF_EMULATOR.includes(name)).sort();

/** Brings an empty database to where versions before this one left every ledger. */
async function asBefore(database: Database) {
  await database.script('create table migrations (number integer primary key not null, name text not null)');
  for (const { number, name, sql, postgres } of migrations.filter((one) => one.number < 40)) {
    const text = (database.dialect === 'postgres' && postgres) || sql;
    await database.script(`insert into migrations (number, name) values (${number}, '${name}');\n${text}`);
  }
}

onEveryDatabase(
  ({ kit }) => {
    test('a new ledger of `start` has none of them, and `serve` adds them once', async () => {
      const { database } = kit();
      await migrate(database);
      expect(await ofEmulator(database)).toEqual([]);
      expect(await pendingMigrations(database, emulatorMigrations)).toEqual(['0001-emulated-parts']);
      expect(await migrate(database, emulatorMigrations)).toEqual(['0001-emulated-parts']);
      expect(await ofEmulator(database)).toEqual(OF_EMULATOR);
      expect(await migrate(database, emulatorMigrations)).toEqual([]);
      // What `start` would do with it counts only what is its own.
      expect(await pendingMigrations(database)).toEqual([]);
    });
  },
  { migrated: false },
);

onEveryDatabase(
  ({ kit }) => {
    test('a ledger of `start` that an earlier version made loses them', async () => {
      const { database } = kit();
      await asBefore(database);
      expect(await ofEmulator(database)).toEqual(OF_EMULATOR);
      await migrate(database);
      expect(await ofEmulator(database)).toEqual([]);
    });
  },
  { migrated: false },
);

onEveryDatabase(
  ({ kit }) => {
    test('what an emulator of an earlier version has written stays, and opens', async () => {
      const { database } = kit();
      await asBefore(database);
      const standing = {
        brandId: '0x00000000000000000000000000000000000000b1' as const,
        platform: 'discord',
        userKey: 'ada@shop.example',
        level: 7,
        roles: ['regular'],
      };
      await setEmulatedStanding(database.db, standing);
      await migrate(database);
      expect(await ofEmulator(database)).toEqual(['emulated_chat_standings']);
      await migrate(database, emulatorMigrations);
      expect(await ofEmulator(database)).toEqual(OF_EMULATOR);
      expect(await emulatedStandings(database.db, { brandId: standing.brandId })).toEqual([standing]);
    });
  },
  { migrated: false },
);
