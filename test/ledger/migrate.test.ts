import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import {
  migrate,
  migrations,
  newestMigration,
  pendingMigrations,
} from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { type Kind, onEveryDatabase, outcomes, startPostgres } from '../kits/databases/databases.ts';
import { everyTable } from '../kits/databases/every-table.ts';
import { bundleScript, ended, printed, type Script } from './child.ts';

const names = migrations.map(({ name }) => name);
/** Tables that the first `count` migrations make, without those that they make anew. */
const tablesAfter = (count: number) => {
  const texts = migrations.slice(0, count).map(({ sql }) => sql);
  const times = (word: RegExp) => texts.flatMap((text) => text.match(word) ?? []).length;
  return times(/^create table /gm) - times(/^drop table /gm);
};

let migrating: Script;
let interrupted: Script;
beforeAll(async () => {
  const open = `
    import { openPostgres } from '../../src/ledger/database/postgres.ts';
    import { openSqlite } from '../../src/ledger/database/sqlite.ts';
    import { migrate } from '../../src/ledger/database/migrate.ts';
    const where = process.argv[2];
    const database = where.startsWith('postgres:') ? openPostgres(where) : openSqlite(where);
  `;
  [migrating, interrupted] = await Promise.all([
    bundleScript(`${open}
      console.log('open');
      migrate(database).then(() => database.close());`),
    // Stands still between two statements of one script, for ever.
    bundleScript(`${open}
      const wait = database.dialect === 'postgres'
        ? 'select pg_sleep(600)'
        : 'create table counted as with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c';
      console.log('begins');
      database.script('create table half (a integer); insert into half values (1); ' + wait);`),
  ]);
});
afterAll(() => Promise.all([migrating.remove(), interrupted.remove()]));

const kinds: Kind[] = ['SQLite file', 'Postgres'];

/** A database that is not open here, so that other processes can have it. */
async function withDatabase(kind: Kind, use: (where: string, open: () => Database) => Promise<void>) {
  if (kind === 'Postgres') {
    const postgres = await startPostgres();
    await use(postgres.url, () => openPostgres(postgres.url));
    await postgres.stop();
    return;
  }
  const dir = await mkdtemp(join(tmpdir(), 'rewards-migrate-'));
  const path = join(dir, 'ledger.db');
  await use(path, () => openSqlite(path));
  await rm(dir, { recursive: true, force: true });
}

onEveryDatabase(
  ({ kind, kit }) => {
    test('an empty database lacks every migration, and asking creates nothing', async () => {
      const { database } = kit();
      expect(await pendingMigrations(database)).toEqual(names);
      expect([...(await database.tables()).keys()]).toEqual([]);
    });

    test('migrating brings everything once, and again nothing', async () => {
      const { database } = kit();
      expect(await migrate(database)).toEqual(names);
      expect(await pendingMigrations(database)).toEqual([]);
      expect((await database.tables()).size).toBe(Object.keys(everyTable).length + 1);
      expect(await migrate(database)).toEqual([]);
    });

    test('a database of a newer program is left alone', async () => {
      const { database } = kit();
      const newer = newestMigration + 1;
      await database.script(`insert into migrations (number, name) values (${newer}, 'newer')`);
      const message = `the database has migration ${newer}, this program knows ${newestMigration}`;
      await expect(pendingMigrations(database)).rejects.toThrow(message);
      await expect(migrate(database)).rejects.toThrow(message);
      await database.script(`delete from migrations where number = ${newer}`);
    });

    test('a script that fails leaves nothing of itself, and the connection is fit for use', async () => {
      const { database } = kit();
      await expect(
        database.script(
          'create table half (a integer); insert into half values (1); insert into nowhere values (1)',
        ),
      ).rejects.toThrow();
      expect((await database.tables()).has('half')).toBe(false);
      await database.script('create table whole (a integer)');
      expect((await database.tables()).get('whole')).toEqual(['a']);
      await database.script('drop table whole');
    });

    test.skipIf(kind === 'SQLite in memory')(
      'a script killed in the middle leaves nothing of itself',
      async () => {
        await withDatabase(kind, async (where, open) => {
          const child = interrupted.start([where]);
          await printed(child, 'begins');
          // Into its statements; the promise holds wherever the kill comes.
          await new Promise((resolve) => setTimeout(resolve, 300));
          child.kill('SIGKILL');
          expect(await ended(child)).toBeNull();
          const database = open();
          expect((await database.tables()).size).toBe(0);
          expect(await migrate(database)).toEqual(names);
          await database.close();
        });
      },
    );

    test.skipIf(kind === 'SQLite in memory')(
      'killed at any moment, a migration is there whole or not at all',
      async () => {
        await withDatabase(kind, async (where, open) => {
          for (let delayMs = 0; delayMs < 12; delayMs += 3) {
            const child = migrating.start([where]);
            await printed(child, 'open').catch(() => undefined);
            await new Promise((resolve) => setTimeout(resolve, delayMs));
            child.kill('SIGKILL');
            await ended(child);
            const database = open();
            const tables = (await database.tables()).size;
            const applied = migrations.length - (await pendingMigrations(database)).length;
            expect(tables, `killed after ${delayMs} ms`).toBeOneOf(
              applied > 0 ? [tablesAfter(applied) + 1] : [0, 1],
            );
            await database.close();
          }
        });
      },
    );

    test.skipIf(kind === 'SQLite in memory')(
      'processes that migrate together leave one whole schema',
      async () => {
        await withDatabase(kind, async (where, open) => {
          const codes = await Promise.all([1, 2, 3].map(() => ended(migrating.start([where]))));
          const database = open();
          expect(await pendingMigrations(database)).toEqual([]);
          expect((await database.tables()).size).toBe(Object.keys(everyTable).length + 1);
          await database.close();
          expect(codes).toEqual([0, 0, 0]);
        });
      },
    );
  },
  { migrated: false },
);

onEveryDatabase(
  ({ kit }) => {
    test('two that migrate at once both find it done', async () => {
      const { database, other } = kit();
      const { errors } = await outcomes([migrate(database), migrate(other)]);
      expect(await pendingMigrations(database)).toEqual([]);
      expect(errors).toEqual([]);
    });
  },
  { migrated: false, kinds },
);

onEveryDatabase(
  ({ kit }) => {
    test('a migrations table that another process creates meanwhile is found, however far this one came', async () => {
      const { database, other, where } = kit();
      const first = new pg.Client({ connectionString: where });
      await first.connect();
      await first.query('begin');
      await first.query('create table migrations (number integer primary key not null, name text not null)');
      // "if not exists" only reads the catalogue, so the second comes past it and waits to write there.
      await first.query('lock table pg_class in exclusive mode');
      const waiting = `select 1 from pg_locks where not granted and relation = 'pg_class'::regclass
        and database = (select oid from pg_database where datname = current_database())`;
      const commit = async () => {
        await expect.poll(async () => (await first.query(waiting)).rowCount).toBe(1);
        await first.query('commit');
      };
      const { errors } = await outcomes<unknown>([migrate(other), commit()]);
      await first.end();
      expect(errors).toEqual([]);
      expect(await pendingMigrations(database)).toEqual([]);
    });
  },
  { migrated: false, kinds: ['Postgres'] },
);
