/** Postgres behind the ledger's port. */
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { type Availability, unwatched } from '../../lib/failures/availability.ts';
import { causeOf, rootMessage } from '../../lib/failures/root-cause.ts';
import {
  type Database,
  groupColumns,
  isDatabaseAway,
  isDatabaseUnavailable,
  NESTED,
  type Queries,
  tryAgain,
} from './database.ts';
import { createNestingWatch } from './nesting.ts';
import { type RunStatement, runDirectly } from './prepared.ts';

/** Connections a process holds: group commit needs few, and a server has about a hundred for everyone. */
const POOL_SIZE = 10;
/** How long a request may wait for a connection before the database counts as unavailable; `connect_timeout` of the URL has another, in seconds. */
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * How long a process may leave a transaction idle. Our transactions talk only to the database, so only a process that
 * is stopped, or lost with its machine, takes longer; its locks would keep all other processes waiting meanwhile.
 */
const IDLE_IN_TRANSACTION_MS = 3_000;

/**
 * How long a statement waits for a row that another transaction has locked. Our own transactions end within
 * milliseconds, so only one that stands still takes longer: a person's, or a large block's. A server looks for deadlocks
 * after a second, and should find them first.
 */
const LOCK_TIMEOUT_MS = 1_500;
/** Tries of a commit that a deadlock or a serialisation failure ended. Each such end means that another one made progress. */
const TRIES_MAX = 3;
/** Until it is tried again: the one that made progress takes the row that it waited for, before we could lock it anew. */
const TRY_AGAIN_AFTER_MS = 10;

interface PostgresOptions {
  /** Hears how each use of the server went. */
  availability?: Availability;
  /** A commit inside another fails, rather than to run beside it. */
  watchNesting?: boolean;
}

/** Connects lazily to `url`. */
export function openPostgres(
  url: string,
  { availability = unwatched, watchNesting = true }: PostgresOptions = {},
): Database {
  const { pool, watched } = openPool(url, availability);
  const nesting = createNestingWatch({ isOn: watchNesting });
  const queriesOf = keepQueries();
  const db = singleQueries(pool, () => {
    if (nesting.isInside()) throw new Error('inside atomically(), use the queries that it hands over');
  });

  /** A connection that failed is not given back to the pool, since its state is unknown. */
  const onOneConnection = <T>(work: (connection: pg.PoolClient) => Promise<T>): Promise<T> =>
    watched(async () => {
      const connection = await pool.connect();
      let failure: Error | undefined;
      try {
        return await work(connection);
      } catch (error) {
        if (isDatabaseUnavailable(error)) failure = error as Error;
        throw error;
      } finally {
        connection.release(failure);
      }
    });

  return {
    dialect: 'postgres',
    // The moment of the statement, not of its transaction, which may have waited for a lock since it began.
    now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`.mapWith(Number),
    db,
    atomically: async (work, { lockWaitMs } = { lockWaitMs: undefined }) => {
      if (nesting.isInside()) throw new Error(NESTED);
      const commit = () =>
        onOneConnection((connection) =>
          inTransaction(connection, { lockWaitMs }, () => nesting.run(() => work(queriesOf(connection)))),
        );
      return tryAgain(commit, { triesMax: TRIES_MAX, pauseMs: TRY_AGAIN_AFTER_MS });
    },
    snapshot: (work) =>
      onOneConnection(async (connection) => {
        // Its pauses are as long as a node takes to answer; it holds no locks that anybody waits for.
        await connection.query('begin transaction isolation level repeatable read, read only');
        await connection.query('set local idle_in_transaction_session_timeout = 0');
        try {
          return await work(queriesOf(connection));
        } finally {
          await connection.query('rollback').catch(() => undefined);
        }
      }),
    script: (text) =>
      onOneConnection(async (connection) => {
        await connection.query('begin');
        try {
          // A migration waits for as long as the commits of the other processes take.
          await connection.query('set local lock_timeout = 0');
          await connection.query(text);
          await connection.query('commit');
        } catch (error) {
          await connection.query('rollback').catch(() => undefined);
          throw error;
        }
      }),
    async tables() {
      const { rows } = await pool.query<[string, string]>({
        rowMode: 'array',
        text: `select table_name, column_name from information_schema.columns
               where table_schema = current_schema() order by table_name, ordinal_position`,
      });
      return groupColumns(rows);
    },
    close: () => pool.end(),
  };
}

function connectTimeoutMs(url: string): number {
  const seconds = URL.canParse(url) ? Number(new URL(url).searchParams.get('connect_timeout')) : 0;
  return seconds > 0 ? seconds * 1_000 : CONNECT_TIMEOUT_MS;
}

/** Queries outside of commits, on any connection of the pool; `check` is called before each. */
function singleQueries(pool: pg.Pool, check: () => void): Queries {
  const queries = new Proxy(drizzle(pool), {
    get(target, name) {
      check();
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as unknown as Queries;
  const run = runOn(pool);
  return runDirectly(queries, async (...statement) => {
    check();
    return run(...statement);
  });
}

/** The queries of each connection, the same every time, so that the statements which they have built stay. */
function keepQueries(): (connection: pg.PoolClient) => Queries {
  const kept = new WeakMap<pg.PoolClient, Queries>();
  return (connection) => {
    const known = kept.get(connection);
    if (known) return known;
    const own = runDirectly(drizzle(connection) as unknown as Queries, runOn(connection));
    kept.set(connection, own);
    return own;
  };
}

/** Runs prepared statements by their names: the server parses and plans each once for a connection. */
const runOn =
  (connection: pg.Pool | pg.PoolClient): RunStatement =>
  (text, values, _method, name) =>
    connection.query({ text, values, name, rowMode: 'array' } as pg.QueryArrayConfig);

async function inTransaction<T>(
  connection: pg.PoolClient,
  { lockWaitMs }: { lockWaitMs: number | undefined },
  work: () => Promise<T>,
): Promise<T> {
  // In one message, so that it takes no longer.
  await connection.query(
    lockWaitMs === undefined ? 'begin' : `begin; set local lock_timeout = ${Math.round(lockWaitMs)}`,
  );
  try {
    const value = await work();
    await connection.query('commit');
    return value;
  } catch (error) {
    // A connection that cannot take it back is lost: that is the failure then, and it does not go back to the pool.
    await connection.query('rollback');
    throw error;
  }
}

/** An empty database on the server of `url`, for a ledger that nobody keeps; `name` has letters, digits and _ alone. */
export async function createOwnDatabase(
  url: string,
  name: string,
): Promise<{ url: string; drop: () => Promise<void> }> {
  await onServer(url, `create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { url: own.href, drop: () => onServer(url, `drop database if exists ${name} with (force)`) };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A pool whose uses are watched: its own `query`, and through `watched` what is done on one of its connections. */
function openPool(url: string, availability: Availability) {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: connectTimeoutMs(url),
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    application_name: 'rewards',
  });
  // Each connection has a listener: losing a connection in use would end the process otherwise.
  let lostBy: string | undefined;
  pool.on('connect', (client) =>
    client.on('error', (error: Error) => {
      lostBy = causeOf(error);
    }),
  );
  pool.on('error', () => {});
  const watched = async <T>(use: () => Promise<T>): Promise<T> => {
    const attempt = availability.attempt();
    try {
      const value = await use();
      attempt.answered();
      return value;
    } catch (error) {
      if (isDatabaseAway(error)) attempt.failed(error, whyAway(error, lostBy));
      // A server that says no to a statement is there; one whose disk is full may be seen as both.
      else if (!isDatabaseUnavailable(error)) attempt.answered();
      throw error;
    }
  };
  const ask = pool.query.bind(pool) as (...given: unknown[]) => Promise<unknown>;
  Object.assign(pool, { query: (...given: unknown[]) => watched(() => ask(...given)) });
  return { pool, watched };
}

/** The statement on a connection that was lost before says only that: the loss has the cause. */
const whyAway = (error: unknown, lostBy: string | undefined) =>
  /not queryable|^Connection terminated/.test(rootMessage(error))
    ? (lostBy ?? causeOf(error))
    : causeOf(error);
