/** A database that has no room left: said as such, nothing is half written, and it goes on once there is room. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { reportHealth } from '../../src/actions/report-health.ts';
import { type Database, isDatabaseUnavailable } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { facts } from '../../src/ledger/schema/facts-and-counters.ts';
import { systemClock } from '../../src/lib/clock.ts';

const LARGE = 'x'.repeat(100_000);
const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function openFull(place: 'file' | 'memory'): Promise<Database> {
  const folder = await mkdtemp(join(tmpdir(), 'rewards-full-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  const database = openSqlite(place === 'file' ? join(folder, 'ledger.sqlite') : ':memory:');
  cleanUps.push(database.close);
  await migrate(database);
  await database.script('pragma max_page_count = 1');
  return database;
}
const names = async ({ db }: Database) =>
  (await db.select({ name: facts.name }).from(facts)).map((row) => row.name);

test.each(['file', 'memory'] as const)('%s: a commit that does not fit', async (place) => {
  const database = await openFull(place);
  const writing = database.atomically(async (tx) => {
    await tx.insert(facts).values({ name: 'small', value: 1 });
    await tx.insert(facts).values({ name: LARGE, value: 2 });
  });
  const error = await writing.catch((reason: unknown) => reason);
  expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  expect(await names(database)).not.toContain('small');

  const alone = await database.db
    .insert(facts)
    .values({ name: LARGE, value: 3 })
    .catch((reason: unknown) => reason);
  expect(isDatabaseUnavailable(alone), String(alone)).toBe(true);

  await database.script('pragma max_page_count = 1000000');
  await database.atomically((tx) => tx.insert(facts).values({ name: 'after', value: 4 }));
  expect(await names(database)).toContain('after');
});

test.each(['file', 'memory'] as const)(
  '%s: of single statements that come at once, who is told of a failure wrote nothing, and all others did',
  async (place) => {
    const database = await openFull(place);
    const wanted = ['first', LARGE, 'last'];
    const writes = wanted.map((name, value) => database.db.insert(facts).values({ name, value }).execute());
    const told = (await Promise.allSettled(writes)).map(({ status }) => status === 'fulfilled');
    expect(told[1]).toBe(false);
    const written = await names(database);
    expect(wanted.map((name) => written.includes(name))).toEqual(told);
  },
);

test('health says so when the ledger can be read and not written', async () => {
  const database = await openFull('file');
  await database.script('pragma max_page_count = 1000000');
  const health = () =>
    reportHealth({
      database,
      clock: systemClock(),
      identityReady: async () => true,
      chain: { block: async () => undefined },
    });
  expect((await health()).services.database).toBe('connected');
  await database.script('pragma query_only = on');
  expect(await names(database)).toContain('probe');
  expect(await health()).toMatchObject({ healthy: false, services: { database: 'disconnected' } });
});
