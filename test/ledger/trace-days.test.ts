/** Traces of requests by days: on Postgres each is a part that is made, and dropped as a whole; on SQLite rows are deleted. */
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate, migrations } from '../../src/ledger/database/migrate.ts';
import {
  createTraceDays,
  findRequestTraces,
  insertRequestTraces,
  listRequestTraces,
  type RequestTrace,
} from '../../src/ledger/request-traces.ts';
import { lockedRow, onEveryDatabase, outcomes } from '../kits/databases/databases.ts';

const DAY_MS = 86_400_000;
const DAY = Date.UTC(2026, 10, 20);
let names = 0;
const trace = (at: number, change: Partial<RequestTrace> = {}): RequestTrace => {
  const id = `req_${(++names).toString(16).padStart(20, '0')}`;
  return { id, at, method: 'POST', path: '/', status: 200, userHash: null, detail: {}, ...change };
};
const kept = async ({ db }: Database) =>
  (await listRequestTraces(db, { status: '', limit: 100 })).map(({ at }) => (at - DAY) / DAY_MS).reverse();
const parts = async (database: Database) =>
  [...(await database.tables()).keys()].filter((name) => /^request_traces_/.test(name)).sort();

onEveryDatabase(({ kind, kit }) => {
  const isPostgres = kind === 'Postgres';

  test('rows of any day find room, whichever of several processes makes it; days go when they are over', async () => {
    const { database, other } = kit();
    const days = [createTraceDays(database, 10), createTraceDays(other, 10)] as const;
    const rows = [0, 0.5, 1, 2, 9].map((day) => trace(DAY + day * DAY_MS));
    const { errors } = await outcomes(
      Array.from({ length: 8 }, (_, n) => (days[n % 2] ?? days[0]).makeRoom(rows)),
    );
    expect(errors).toEqual([]);
    await insertRequestTraces(database.db, rows);
    // The answer to the first time was lost.
    await insertRequestTraces(database.db, rows);
    expect(await kept(database)).toEqual([0, 0.5, 1, 2, 9]);
    expect(await findRequestTraces(database.db, rows[2]?.id ?? '', 5)).toEqual([rows[2]]);

    while (await days[0].forget(DAY + 8.75 * DAY_MS, 7 * DAY_MS));
    expect(await kept(database)).toEqual(isPostgres ? [1, 2, 9] : [2, 9]);
    const left = ['20261121', '20261122', '20261129'].map((day) => `request_traces_${day}`);
    expect(await parts(database)).toEqual(isPostgres ? left : []);
    // What is kept for less than a day goes row by row.
    while (await days[1].forget(DAY + 9 * DAY_MS + 1_000, 500));
    expect(await kept(database)).toEqual([]);
    // Room is made anew for a day that came back.
    await createTraceDays(database, 10).makeRoom(rows);
    await insertRequestTraces(database.db, rows.slice(0, 1));
    expect(await kept(database)).toEqual([0]);
  });

  test.skipIf(!isPostgres)('a day that somebody reads is dropped later, and holds up nobody', async () => {
    const { database } = kit();
    const days = createTraceDays(database, 10);
    const row = trace(DAY - 30 * DAY_MS);
    await days.makeRoom([row]);
    await insertRequestTraces(database.db, [row]);
    const release = await lockedRow(kit().where, 'request_traces', { id: row.id });
    expect(await days.forget(DAY, 7 * DAY_MS)).toBe(false);
    // A day is made while others are read.
    await days.makeRoom([trace(DAY - 5 * DAY_MS)]);
    expect(await kept(database)).toContain(-30);
    await release();
    await expect.poll(() => days.forget(DAY, 7 * DAY_MS).then(() => kept(database))).not.toContain(-30);
  });

  test.skipIf(!isPostgres)('large texts are compressed by the server', async () => {
    const { database } = kit();
    const own = trace(DAY + 9 * DAY_MS, {
      detail: { traces: Array(200).fill({ kind: 'event', refusal: 'nothing' }) },
    });
    await createTraceDays(database, 10).makeRoom([own]);
    await insertRequestTraces(database.db, [own]);
    const pg = (await import('pg')).default;
    const client = new pg.Client({ connectionString: kit().where });
    await client.connect();
    const { rows } = await client.query(
      `select pg_column_compression(detail) as how, pg_column_size(detail) as bytes from request_traces where id = $1`,
      [own.id],
    );
    await client.end();
    expect(['lz4', 'pglz']).toContain(rows[0].how);
    expect(rows[0].bytes).toBeLessThan(1_000);
  });
});

describe('the migration', () => {
  onEveryDatabase(
    ({ kind, kit }) => {
      test('takes the rows that are there with it, and goes on beside a process of the version before', async () => {
        const { database } = kit();
        await database.script(
          'create table migrations (number integer primary key not null, name text not null)',
        );
        for (const { number, name, sql } of migrations.filter((one) => one.number < 39))
          await database.script(
            `insert into migrations (number, name) values (${number}, '${name}');\n${sql}`,
          );
        const nowMs = Date.now();
        const rows = [trace(nowMs - 3 * DAY_MS), trace(nowMs, { userHash: 'user', detail: { a: 'b' } })];
        // As that version does it: it makes no room.
        await insertRequestTraces(database.db, rows);
        expect(await migrate(database)).toContain('0039-traces-by-day');
        await insertRequestTraces(database.db, [trace(nowMs + 1)]);
        expect(await listRequestTraces(database.db, { status: '', limit: 2, userHash: 'user' })).toEqual([
          rows[1],
        ]);
        expect(await findRequestTraces(database.db, rows[0]?.id ?? '', 2)).toEqual([rows[0]]);
        const days = createTraceDays(database, 10);
        const later = [trace(nowMs + 2), trace(nowMs + DAY_MS), trace(nowMs + 4 * DAY_MS)];
        await days.makeRoom(later);
        await insertRequestTraces(database.db, later);
        expect(await listRequestTraces(database.db, { status: '', limit: 10 })).toHaveLength(6);
        if (kind === 'Postgres') expect(await parts(database)).toHaveLength(2);
        // What was there before goes when its last day is old enough.
        while (await days.forget(nowMs + 11 * DAY_MS, 7 * DAY_MS));
        expect(await listRequestTraces(database.db, { status: '', limit: 10 })).toEqual([later[2]]);
      });
    },
    { migrated: false },
  );
});
