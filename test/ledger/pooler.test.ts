/** Postgres behind PgBouncer: what protects a connection is in force in every transaction, and names of statements never collide. */
import { eq, sql } from 'drizzle-orm';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Database,
  isDatabaseUnavailable,
  isLockTimeout,
  type Pooler,
} from '../../src/ledger/database/database.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { prepare } from '../../src/ledger/database/prepared-query.ts';
import { rootMessage } from '../../src/lib/failures/root-cause.ts';
import { lockedRow, outcomes, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { type Pgbouncer, pgbouncerMissing, startPgbouncer } from '../kits/databases/pgbouncer.ts';
import { until } from '../kits/service/clock.ts';

const counters = pgTable('counters', { name: text('name').primaryKey(), value: integer('value').notNull() });

describe.skipIf(pgbouncerMissing())('behind PgBouncer', () => {
  let postgres: TestPostgres;
  const open: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`create table counters (name text primary key not null, value integer not null);
      insert into counters values ('a', 0), ('b', 0)`);
    await client.end();
  });
  afterAll(() => postgres.stop());
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });

  async function pooler(settings: Parameters<typeof startPgbouncer>[1]): Promise<Pgbouncer> {
    const started = await startPgbouncer(postgres.url, settings);
    open.push(started.stop);
    return started;
  }
  function connect(url: string, mode: Pooler): Database {
    const database = openPostgres(url, { pooler: mode });
    open.push(() => database.close());
    return database;
  }
  const setting = (name: string) => sql<string>`current_setting(${name})`;
  const inForce = (db: Parameters<Parameters<Database['atomically']>[0]>[0]) =>
    db
      .select({
        lock: setting('lock_timeout'),
        idle: setting('idle_in_transaction_session_timeout'),
        statement: setting('statement_timeout'),
      })
      .from(sql`(select 1) as one`);

  const modes = [
    ['session', 'session'],
    ['session', 'none'],
    ['transaction', 'transaction'],
    ['session', 'transaction'],
  ] as const;
  describe.each(modes)('pool_mode = %s, REWARDS_DATABASE_POOLER=%s', (pool_mode, mode) => {
    test('the limits of a connection are in force in a commit, and gone in a script', async () => {
      const { url } = await pooler({ pool_mode });
      const database = connect(`${url}?statement_timeout=20s`, mode);
      expect(await database.sessionProblem?.()).toBeUndefined();
      expect(await database.atomically(inForce)).toEqual([{ lock: '1500ms', idle: '3s', statement: '20s' }]);
      expect(await database.snapshot(inForce)).toMatchObject([{ idle: '0', statement: '20s' }]);
      await database.script(
        "create table if not exists seen as select current_setting('lock_timeout') as lock",
      );
      expect((await database.tables()).get('seen')).toEqual(['lock']);
    });

    test('who waits for a locked row gives up, in a commit and by itself', async () => {
      const { url } = await pooler({ pool_mode });
      const database = connect(url, mode);
      const release = await lockedRow(postgres.url, 'counters', { name: 'a' });
      const add = (db: Database['db']) =>
        db
          .update(counters)
          .set({ value: sql`${counters.value} + 1` })
          .where(eq(counters.name, 'a'));
      const { errors } = await outcomes<unknown>([
        database.atomically(async (tx) => add(tx)),
        add(database.db),
      ]);
      expect(errors.map(isLockTimeout)).toEqual([true, true]);
      await release();
      await add(database.db);
    });

    test('two processes prepare other statements under the same connections, many times', async () => {
      const { url } = await pooler({ pool_mode });
      const processes = [connect(url, mode), connect(url, mode)];
      const made = processes.map((database, place) =>
        Array.from({ length: 20 }, (_, n) =>
          prepare(
            database.db,
            database.db
              .select({ sum: sql<number>`${counters.value} * 0 + ${sql.raw(`${place}${n}`)}` })
              .from(counters),
          ),
        ),
      );
      const answers = await outcomes(
        Array.from({ length: 400 }, (_, n) => made[n % 2]?.[n % 20]?.({}) as Promise<unknown>),
      );
      expect(answers.errors.map(rootMessage)).toEqual([]);
    });
  });

  test('names that another process has left on a server, where nobody clears it', async () => {
    const { url } = await pooler({ pool_mode: 'session', default_pool_size: 1, server_reset_query: '' });
    for (const value of ['1', '2', '3']) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (let n = 0; n < 50; n++) await client.query({ name: `s${n}`, text: `select ${value}`, values: [] });
      await client.end();
      const database = openPostgres(url, { pooler: 'session' });
      const run = prepare(database.db, database.db.select({ value: counters.value }).from(counters));
      expect(await run({})).toHaveLength(2);
      await database.close();
    }
  });

  test.each(['none', 'session'] as const)(
    'a pooler that shares connections is seen with REWARDS_DATABASE_POOLER=%s',
    async (mode) => {
      for (const server_round_robin of [0, 1]) {
        const { url } = await pooler({ pool_mode: 'transaction', server_round_robin });
        // As replicas in use would have it.
        const others = await Promise.all(
          [1, 2, 3].map(async () => connect(url, 'transaction').atomically(inForce)),
        );
        expect(others).toHaveLength(3);
        expect(await connect(url, mode).sessionProblem?.()).toEqual({ kind: 'shared', missing: [] });
      }
    },
  );

  test('a pooler with one server is seen as well', async () => {
    const { url } = await pooler({ pool_mode: 'transaction', default_pool_size: 1 });
    expect(await connect(url, 'none').sessionProblem?.()).toEqual({ kind: 'shared', missing: [] });
  });

  test('a pooler without a free server is a database that is away, after as long as a caller waits', async () => {
    for (const pool_mode of ['session', 'transaction'] as const) {
      const { url } = await pooler({ pool_mode, default_pool_size: 1 });
      const held = new pg.Client({ connectionString: url });
      await held.connect();
      await held.query('begin');
      const database = openPostgres(`${url}?connect_timeout=1`, { pooler: pool_mode });
      const { errors } = await outcomes([database.atomically(async () => 1)]);
      expect(rootMessage(errors[0])).toBe('no server took the connection within 1000 ms');
      expect(isDatabaseUnavailable(errors[0])).toBe(true);
      await held.end();
      // Its connection was not kept.
      await expect.poll(() => database.atomically(async () => 2).catch(rootMessage)).toBe(2);
      await database.close();
    }
  });

  test('a process that stands still in a transaction loses it, in transaction mode as well', async () => {
    const { url } = await pooler({ pool_mode: 'transaction' });
    const database = connect(`${url}?idle_in_transaction_session_timeout=100`, 'transaction');
    const watcher = new pg.Client({ connectionString: postgres.url });
    await watcher.connect();
    open.push(() => watcher.end());
    const lost = await outcomes([
      database.atomically(async (tx) => {
        await tx.update(counters).set({ value: 7 }).where(eq(counters.name, 'b'));
        await until('the server has ended the transaction', async () => {
          const { rows } = await watcher.query(
            "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
          );
          return rows.length === 0;
        });
        await tx.update(counters).set({ value: 8 }).where(eq(counters.name, 'b'));
      }),
    ]);
    expect(lost.errors.map(isDatabaseUnavailable)).toEqual([true]);
    const [row] = await database.db.select().from(counters).where(eq(counters.name, 'b'));
    expect(row?.value).toBe(0);
  });
});
