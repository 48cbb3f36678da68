/** The databases that tests run on: a SQLite file always, SQLite in memory, Postgres where there is one. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe } from 'vitest';
import type { Database } from '../../../src/ledger/database/database.ts';
import { migrate } from '../../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { withoutPostgres } from './postgres-server.ts';

export interface TestPostgres {
  /** Of an empty database of its own. */
  url: string;
  stop(): Promise<void>;
}

/** Of the server that is configured, or that the whole run was given. */
const serverUrl = () => process.env.REWARDS_TEST_POSTGRES_URL;

/** Why there is no Postgres to test with; undefined when there is one. Throws where one is required. */
export function postgresMissing(): string | undefined {
  return serverUrl() ? undefined : withoutPostgres();
}

/** An empty database on the server of this run; with `migrated`, a copy of one that has its tables. */
export async function startPostgres({ migrated = false } = {}): Promise<TestPostgres> {
  const server = serverUrl();
  if (!server) throw new Error('no Postgres: postgresMissing() would have said so');
  const name = `rewards_test_${randomBytes(8).toString('hex')}`;
  const template = process.env.REWARDS_TEST_POSTGRES_TEMPLATE;
  await onServer(server, `create database ${name}${migrated && template ? ` template ${template}` : ''}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, stop: () => onServer(server, `drop database if exists ${name} with (force)`) };
}

/** Runs one statement as the server's administrator. */
export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Keeps one row of a Postgres locked, as a transaction that somebody forgot, until the function that it resolves with is called. */
export async function lockedRow(
  url: string,
  table: string,
  where: Record<string, string>,
): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  const conditions = Object.keys(where).map((column, place) => `${column} = $${place + 1}`);
  const { rowCount } = await client.query(
    `select * from ${table} where ${conditions.join(' and ')} for update`,
    Object.values(where),
  );
  if (rowCount !== 1) throw new Error(`${rowCount} rows of ${table} are locked instead of one`);
  let ended: Promise<void> | undefined;
  return () => {
    ended ??= client.end();
    return ended;
  };
}

/**
 * The same database for those who wait as long as it takes: for a connection of their pool, for a locked row, and between
 * two statements of a commit. On a busy machine the last of a crowd waits longer than the service lets its callers wait; what
 * becomes of those has tests of its own.
 */
export function patient(url: string): string {
  const own = new URL(url);
  own.searchParams.set('connect_timeout', '60');
  own.searchParams.set('lock_timeout', '60000');
  own.searchParams.set('idle_in_transaction_session_timeout', '60000');
  return own.href;
}

export interface TestDatabase {
  /** Undefined: SQLite, in the service's own folder. */
  databaseUrl?: string;
  stop(): Promise<void>;
}

/** For `describe.each`; a missing Postgres is said once by whoever starts the tests, or fails where it is required. */
export const databaseKinds: { kind: 'sqlite' | 'postgres'; open: () => Promise<TestDatabase> }[] = [
  { kind: 'sqlite', open: async () => ({ stop: async () => {} }) },
  ...(postgresMissing()
    ? []
    : [
        {
          kind: 'postgres' as const,
          async open() {
            const { url, stop } = await startPostgres({ migrated: true });
            return { databaseUrl: patient(url), stop };
          },
        },
      ]),
];

export interface OpenedDatabase {
  /** Of the whole suite; each test uses keys of its own. */
  database: Database;
  /** What a second process would have: another pool on Postgres; the one owner of the file on SQLite. */
  other: Database;
  /** The SQLite file or the Postgres URL. */
  where: string;
}

export type Kind = 'SQLite file' | 'SQLite in memory' | 'Postgres';

export interface Suite {
  kind: Kind;
  kit(): OpenedDatabase;
}

/** `migrated: false` gives empty databases. */
export function onEveryDatabase(
  suite: (on: Suite) => void,
  { kinds, migrated = true }: { kinds?: Kind[]; migrated?: boolean } = {},
) {
  const all: Kind[] = ['SQLite file', 'SQLite in memory', 'Postgres'];
  for (const kind of kinds ?? all) {
    describe.skipIf(kind === 'Postgres' && postgresMissing())(kind, () => {
      let kit: OpenedDatabase | undefined;
      let close = async () => {};
      beforeAll(async () => {
        const opened = await openKind(kind, migrated);
        kit = opened.kit;
        close = opened.close;
        if (migrated) await migrate(kit.database);
      });
      afterAll(() => close());
      suite({
        kind,
        kit() {
          if (!kit) throw new Error('the database is opened before the tests and not before that');
          return kit;
        },
      });
    });
  }
}

async function openKind(
  kind: Kind,
  migrated: boolean,
): Promise<{ kit: OpenedDatabase; close: () => Promise<void> }> {
  if (kind === 'Postgres') {
    const postgres = await startPostgres({ migrated });
    const where = patient(postgres.url);
    const kit = { database: openPostgres(where), other: openPostgres(where), where };
    return {
      kit,
      async close() {
        await Promise.all([kit.database.close(), kit.other.close()]);
        await postgres.stop();
      },
    };
  }
  const dir = await mkdtemp(join(tmpdir(), 'rewards-ledger-'));
  const where = kind === 'SQLite in memory' ? ':memory:' : join(dir, 'ledger.db');
  const database = openSqlite(where);
  return {
    kit: { database, other: database, where },
    async close() {
      await database.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Something that happens when it is told to. */
export function signal<T = void>() {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { give, given };
}

let keys = 0;
/** A key that no other test uses. */
export const freshKey = (prefix: string) => `${prefix}${++keys}`;
/** An address that no other test uses. */
export const freshAddress = (): `0x${string}` => `0x${(++keys).toString(16).padStart(40, '0')}`;
/** 32 bytes that no other test uses. */
export const freshHash = (): `0x${string}` => `0x${(++keys).toString(16).padStart(64, '0')}`;

/** The answers that were given and the errors that were thrown, of work that ran at once. */
export async function outcomes<T>(work: Promise<T>[]): Promise<{ values: T[]; errors: unknown[] }> {
  const settled = await Promise.allSettled(work);
  return {
    values: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    errors: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])),
  };
}
