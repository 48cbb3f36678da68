/** Postgres behind the ledger's port. */
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { createNestingWatch } from '../../lib/async-context.ts';
import { type Availability, unwatched } from '../../lib/failures/availability.ts';
import { causeOf, rootMessage } from '../../lib/failures/root-cause.ts';
import {
  type Database,
  groupColumns,
  isDatabaseAway,
  isDatabaseUnavailable,
  NESTED,
  type Pooler,
  type Queries,
  tryAgain,
} from './database.ts';
import { checkSessions, type Sessions, sessionsOf } from './postgres-sessions.ts';
import { type RunStatement, runDirectly } from './prepared-query.ts';

/** Connections a process holds: group commit needs few, and a server has about a hundred for everyone. */
const POOL_SIZE = 10;
/** How long a request may wait for a connection before the database counts as unavailable; `connect_timeout` of the URL has another, in seconds. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Tries of a commit that a deadlock or a serialisation failure ended. Each such end means that another one made progress. */
const TRIES_MAX = 3;
/** Until it is tried again: the one that made progress takes the row that it waited for, before we could lock it anew. */
const TRY_AGAIN_AFTER_MS = 10;

interface PostgresOptions {
  /** Hears how each use of the server went. */
  availability?: Availability;
  /** A commit inside another fails, rather than to run beside it. */
  watchNesting?: boolean;
  /** What stands between this process and the server. */
  pooler?: Pooler;
}

/** Connects lazily to `url`. */
export function openPostgres(
  url: string,
  { availability = unwatched, watchNesting = true, pooler = 'none' }: PostgresOptions = {},
): Database {
  const sessions = sessionsOf(url, { pooler, waitMs: connectTimeoutMs(url) });
  const { pool, watched } = openPool(url, sessions, availability);
  const nesting = createNestingWatch({ isOn: watchNesting });
  const run = runWith(sessions);
  const queriesOf = keepQueries(run);
  const db = singleQueries(pool, run(pool), () => {
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
          inTransaction({ connection, sessions, lockWaitMs }, () =>
            nesting.run(() => work(queriesOf(connection))),
          ),
        );
      return tryAgain(commit, { triesMax: TRIES_MAX, pauseMs: TRY_AGAIN_AFTER_MS });
    },
    snapshot: (work) =>
      onOneConnection(async (connection) => {
        // Its pauses are as long as a node takes to answer; it holds no locks that anybody waits for.
        await sessions.begin(connection, {
          kind: 'transaction isolation level repeatable read, read only',
          local: { idle_in_transaction_session_timeout: '0' },
        });
        try {
          return await work(queriesOf(connection));
        } finally {
          await connection.query('rollback').catch(() => undefined);
        }
      }),
    script: (text) =>
      onOneConnection(async (connection) => {
        // A migration waits for as long as the commits of the other processes take.
        await sessions.begin(connection, { local: { lock_timeout: '0' } });
        try {
          await connection.query(text);
          await connection.query('commit');
        } catch (error) {
          await connection.query('rollback').catch(() => undefined);
          throw error;
        }
      }),
    tables: () => tablesOf(pool),
    sessionProblem: () => watched(() => checkSessions({ pool, sessions })),
    connections: () => connectionsOf(pool),
    close: () => pool.end(),
  };
}

async function tablesOf(pool: pg.Pool): Promise<Map<string, string[]>> {
  const { rows } = await pool.query<[string, string]>({
    rowMode: 'array',
    text: `select table_name, column_name from information_schema.columns
           where table_schema = current_schema() order by table_name, ordinal_position`,
  });
  return groupColumns(rows);
}

const connectionsOf = (pool: pg.Pool) => ({
  total: pool.totalCount,
  idle: pool.idleCount,
  waiting: pool.waitingCount,
});

function connectTimeoutMs(url: string): number {
  const seconds = URL.canParse(url) ? Number(new URL(url).searchParams.get('connect_timeout')) : 0;
  return seconds > 0 ? seconds * 1_000 : CONNECT_TIMEOUT_MS;
}

/** Queries outside of commits, on any connection of the pool; `check` is called before each. */
function singleQueries(pool: pg.Pool, run: RunStatement, check: () => void): Queries {
  const queries = new Proxy(drizzle(pool), {
    get(target, name) {
      check();
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as unknown as Queries;
  return runDirectly(queries, async (...statement) => {
    check();
    return run(...statement);
  });
}

/** The queries of each connection, the same every time, so that the statements which they have built stay. */
function keepQueries(run: ReturnType<typeof runWith>): (connection: pg.PoolClient) => Queries {
  const kept = new WeakMap<pg.PoolClient, Queries>();
  return (connection) => {
    const known = kept.get(connection);
    if (known) return known;
    const own = runDirectly(drizzle(connection) as unknown as Queries, run(connection));
    kept.set(connection, own);
    return own;
  };
}

/** Runs prepared statements by their names: the server parses and plans each once for a connection, unless others have it in between. */
const runWith =
  ({ remembersNames }: Sessions) =>
  (connection: pg.Pool | pg.PoolClient): RunStatement =>
  (text, values, _method, name) =>
    connection.query({
      text,
      values,
      name: remembersNames ? name : undefined,
      rowMode: 'array',
    } as pg.QueryArrayConfig);

async function inTransaction<T>(
  of: { connection: pg.PoolClient; sessions: Sessions; lockWaitMs?: number | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const { connection, sessions, lockWaitMs } = of;
  await sessions.begin(connection, {
    ...(lockWaitMs !== undefined && { local: { lock_timeout: String(Math.round(lockWaitMs)) } }),
  });
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
function openPool(url: string, sessions: Sessions, availability: Availability) {
  const { connectionString, onConnect } = sessions;
  const pool = new pg.Pool({
    connectionString,
    max: POOL_SIZE,
    connectionTimeoutMillis: connectTimeoutMs(url),
    application_name: 'rewards',
    ...(onConnect && { onConnect }),
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
  const alone = pool.query.bind(pool) as Ask;
  const ask = sessions.protectsSingles ? alone : protectedSingles({ pool, alone, sessions });
  Object.assign(pool, { query: (...given: Parameters<Ask>) => watched(() => ask(...given)) });
  return { pool, watched };
}

type Ask = (config: string | pg.QueryConfig, values?: unknown[]) => Promise<unknown>;

/** Reads that lock nothing wait for nobody's row. */
const READS = /^\s*\(*\s*select\b(?!.*\bfor (?:no key )?(?:update|share)\b)/is;

/** Single statements that write, each in a transaction of its own, which is what its protections are in force for. */
function protectedSingles({ pool, alone, sessions }: { pool: pg.Pool; alone: Ask; sessions: Sessions }): Ask {
  return async (config, values) => {
    if (READS.test(typeof config === 'string' ? config : config.text)) return alone(config, values);
    const connection = await pool.connect();
    let failure: Error | undefined;
    try {
      return await inTransaction({ connection, sessions }, () =>
        connection.query(config as pg.QueryConfig, values),
      );
    } catch (error) {
      if (isDatabaseUnavailable(error)) failure = error as Error;
      throw error;
    } finally {
      connection.release(failure);
    }
  };
}

/** The statement on a connection that was lost before says only that: the loss has the cause. */
const whyAway = (error: unknown, lostBy: string | undefined) =>
  /not queryable|^Connection terminated/.test(rootMessage(error))
    ? (lostBy ?? causeOf(error))
    : causeOf(error);
