/** Which migrations a database lacks, and when it has more than this program knows. */
import { expect, test } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import {
  isDatabaseNewer,
  migrate,
  migrations,
  newestMigration,
  pendingMigrations,
} from '../../src/ledger/database/migrate.ts';
import { onEveryDatabase } from '../kits/databases/databases.ts';

const names = migrations.map(({ name }) => name);

/** Notes migrations as done without doing them. */
const note = (database: Database, numbers: number[]) =>
  database.script(
    numbers.map((one) => `insert into migrations (number, name) values (${one}, 'x');`).join(''),
  );

onEveryDatabase(
  ({ kit }) => {
    test('are all that come after its newest, and none of a newer program', async () => {
      const { database } = kit();
      expect(await pendingMigrations(database)).toEqual(names);
      expect([...(await database.tables()).keys()]).toEqual([]);
      await database.script('create table migrations (number integer primary key, name text not null)');
      expect(await pendingMigrations(database)).toEqual(names);
      // Whatever the order in which they stand there.
      await note(database, [3, 1, 2]);
      expect(await pendingMigrations(database)).toEqual(names.slice(3));
      await database.script('drop table migrations');

      expect(await migrate(database)).toEqual(names);
      expect(await pendingMigrations(database)).toEqual([]);
      expect(await migrate(database)).toEqual([]);
      await note(database, [newestMigration + 1]);
      const error = await pendingMigrations(database).catch((reason: unknown) => reason);
      expect(isDatabaseNewer(error)).toBe(true);
      expect(String(error)).toBe(
        `NewerDatabaseError: the database has migration ${newestMigration + 1}, this program knows ${newestMigration}: run a newer version of it`,
      );
      expect(isDatabaseNewer(new Error('another'))).toBe(false);
      await expect(migrate(database)).rejects.toThrow('run a newer version of it');
    });
  },
  { migrated: false },
);
