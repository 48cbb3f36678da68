/** What each connection to a SQLite file is set to. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { facts } from '../../src/ledger/schema/facts-and-counters.ts';

const FULL = 2;
const OFF = 0;
let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rewards-connection-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test.each([
  ['at FULL', 'kept.db', true, FULL],
  ['at OFF where nobody keeps the ledger', 'ephemeral.db', false, OFF],
])('both connections are %s, in WAL, after a write and not only when they were opened', async (...of) => {
  const [, file, durable, synchronous] = of;
  const database = openSqlite(join(dir, file), durable ? {} : { durable });
  await migrate(database);
  await database.db.insert(facts).values({ name: 'written', value: 1 });
  const modes = {
    synchronous: sql<number>`(select synchronous from pragma_synchronous)`,
    journal: sql<string>`(select journal_mode from pragma_journal_mode)`,
  };
  const expected = [{ synchronous, journal: 'wal' }];
  const ask = (from: Pick<typeof database.db, 'select'>) => from.select(modes).from(facts).limit(1);
  expect(await database.atomically((writer) => ask(writer))).toEqual(expected);
  expect(await ask(database.db)).toEqual(expected);
  await database.close();
});

test('the connection that writes refuses rows that name no other row', async () => {
  const database = openSqlite(join(dir, 'keys.db'));
  await migrate(database);
  await database.db.insert(facts).values({ name: 'written', value: 1 });
  const foreignKeys = sql<number>`(select foreign_keys from pragma_foreign_keys)`;
  expect(await database.atomically((writer) => writer.select({ foreignKeys }).from(facts).limit(1))).toEqual([
    { foreignKeys: 1 },
  ]);
  await database.close();
});

test('once it is closed, neither connection answers', async () => {
  const database = openSqlite(join(dir, 'closed.db'));
  await migrate(database);
  await database.close();
  await expect(database.db.select().from(facts)).rejects.toThrow();
  await expect(database.atomically((writer) => writer.select().from(facts))).rejects.toThrow();
});
