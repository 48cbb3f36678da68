/** SQLite behind the ledger's port: one writer, every commit on disk before it is acknowledged. */
import { AsyncLocalStorage } from 'node:async_hooks';
import SQLite from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createMutex } from '../../lib/mutex.ts';
import { type Database, groupColumns, NESTED, type Queries } from './database.ts';
import { SqliteSpelling } from './sqlite-spelling.ts';
import { createStatementCache } from './statement-cache.ts';

/** Pages kept in memory by each connection, in KiB: enough for the hot indexes at a million claims. */
const CACHE_KIB = 32 * 1024;
/** Compiled statements kept; multi-row statements differ by their row count. */
const COMPILED_MAX = 500;

/** Runs one statement; `all`: each row as a list of its values, in the order of the statement's columns. */
export type RunStatement = (
  text: string,
  params: unknown[],
  method: 'all' | 'execute',
) => Promise<{ rows: unknown[] }>;

/** The ledger's queries, spelled for SQLite, on whatever runs a statement. */
export const sqliteQueries = (run: RunStatement): Queries =>
  drizzle(run, {}, () => new SqliteSpelling()) as unknown as Queries;

/**
 * Opens the file (or `:memory:`). Only this process may write to it.
 * WAL first and then `synchronous=FULL`: better-sqlite3 is compiled so that WAL alone runs at NORMAL,
 * which may lose the last commits when the power fails. `queriesOn` lets a caller observe each statement; `clock` is
 * the database's, for which the machine's own serves: there is one process.
 */
export function openSqlite(
  path: string,
  {
    queriesOn = sqliteQueries,
    clock = systemClock(),
  }: { queriesOn?: (run: RunStatement) => Queries; clock?: Pick<Clock, 'now'> } = {},
): Database {
  const writer = connect(path, { clock });
  const reader = path === ':memory:' ? writer : connect(path, { clock, readonly: true });
  const exclusive = createMutex();
  const insideWork = new AsyncLocalStorage<boolean>();

  const tx = queriesOn(async (text, params, method) => run(writer, text, params, method));
  const db = queriesOn(async (text, params, method) => {
    if (insideWork.getStore()) throw new Error('inside atomically(), use the queries that it hands over');
    // An in-memory database has one connection: a select on it would see what an open commit may still roll back.
    if (reader !== writer && /^(?:select|with\s)/.test(text) && !/\b(?:insert|update|delete)\b/.test(text)) {
      return run(reader, text, params, method);
    }
    return exclusive(async () => run(writer, text, params, method));
  });

  const begin = <T>(work: () => Promise<T>) => {
    if (insideWork.getStore()) throw new Error(NESTED);
    return exclusive(async () => {
      writer.exec('begin immediate');
      try {
        const value = await insideWork.run(true, work);
        writer.exec('commit');
        return value;
      } catch (error) {
        if (writer.inTransaction) writer.exec('rollback');
        throw error;
      }
    });
  };

  return {
    dialect: 'sqlite',
    now: sql<number>`now_ms()`.mapWith(Number),
    db,
    atomically: async (work) => begin(() => work(tx)),
    async snapshot(work) {
      if (reader === writer) return exclusive(() => work(tx));
      const own = connect(path, { clock, readonly: true });
      try {
        // The moment is that of the first read, so one is made here.
        own.exec('begin');
        own.exec('select 1 from sqlite_master');
        return await work(queriesOn(async (text, params, method) => run(own, text, params, method)));
      } finally {
        own.close();
      }
    },
    script: async (text) => begin(async () => writer.exec(text)),
    async tables() {
      const rows = run(
        reader,
        `select m.name, c.name from sqlite_master m join pragma_table_info(m.name) c
         where m.type = 'table' and m.name not like 'sqlite_%' order by m.name, c.cid`,
        [],
        'all',
      ).rows as [string, string][];
      return groupColumns(rows);
    },
    close: () =>
      exclusive(async () => {
        if (reader !== writer) reader.close();
        writer.close();
      }),
  };
}

type Connection = ReturnType<typeof connect>;

function run(connection: Connection, text: string, params: unknown[], method: 'all' | 'execute') {
  const statement = connection.compile(text);
  const values = params.map((value) => (typeof value === 'boolean' ? Number(value) : value));
  if (!statement.reader) {
    statement.run(...values);
    return { rows: [] };
  }
  return { rows: statement.raw(method === 'all').all(...values) };
}

function connect(path: string, { clock, ...options }: SQLite.Options & { clock: Pick<Clock, 'now'> }) {
  const sqlite = new SQLite(path, options);
  sqlite.function('now_ms', { deterministic: false }, () => clock.now());
  if (!options.readonly) {
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('foreign_keys = ON');
  }
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma(`cache_size = -${CACHE_KIB}`);
  return {
    compile: createStatementCache(COMPILED_MAX, (text) => sqlite.prepare<unknown[], unknown>(text)),
    exec: (text: string) => void sqlite.exec(text),
    get inTransaction() {
      return sqlite.inTransaction;
    },
    close: () => void sqlite.close(),
  };
}
