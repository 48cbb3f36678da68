/** The port to the ledger's database: one query builder, whichever database is behind it. */
import { type SQL, sql } from 'drizzle-orm';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { rootMessage } from '../../lib/failures/root-cause.ts';
import { delay } from '../../lib/timers.ts';

/** Drizzle's Postgres builder, less what the two databases do not share. */
export type Queries = Omit<
  PgDatabase<PgQueryResultHKT>,
  'transaction' | 'execute' | 'query' | '_' | '$cache'
>;

/** A moment, as part of a statement: milliseconds since 1970. */
export type SqlTime = SQL<number>;

const given = new WeakMap<SqlTime, number>();

/** A moment that this process knows. */
export function atMs(ms: number): SqlTime {
  const time = sql<number>`cast(${ms} as bigint)`.mapWith(Number);
  given.set(time, ms);
  return time;
}

/** The moment that `atMs` was given; undefined for one that only the database knows. */
export const msOf = (time: SqlTime): number | undefined => given.get(time);

/**
 * Business time: what cooldowns, windows and limits are measured by. In production it is the database's clock, so that
 * the clocks of replicas do not matter; in the emulator, the clock that a developer moves.
 */
export type BusinessTime = () => SqlTime;

/**
 * How connections reach Postgres. `none`: they are its own. `session`: a pooler gives each one of its servers for as long as
 * it lives. `transaction`: a pooler gives each transaction any server that is free, so that nothing of one, neither a
 * setting nor the name of a statement, may outlive it.
 */
export type Pooler = 'none' | 'session' | 'transaction';

/** What a connection's settings are in a start, and what they should be. */
export interface SessionProblem {
  /** `shared`: each transaction gets another connection, though `pooler` says otherwise. `unprotected`: what was set is not in force. */
  kind: 'shared' | 'unprotected';
  /** Of `unprotected`: each setting as `name=value`, as it should be. */
  missing: string[];
}

/** `waiting`: work that waits for a connection, since all of them are in use. */
export interface Connections {
  total: number;
  idle: number;
  waiting: number;
}

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** The database's own clock, which all processes on it share; read while the statement runs. */
  readonly now: SqlTime;
  /** Single statements, each for itself; those that wait for SQLite at the same time are written to disk together. */
  readonly db: Queries;
  /**
   * Several statements that commit together or not at all; done again when a deadlock ended them. No network calls inside.
   * `lockWaitMs`: how long a statement waits for a row that is locked, where that is not as long as any does.
   */
  atomically<T>(work: (tx: Queries) => Promise<T>, wait?: { lockWaitMs: number | undefined }): Promise<T>;
  /**
   * Reads of one moment, however long they take: what is committed meanwhile is not seen, and waits for nothing.
   * A database in memory has one connection, so there nothing else is written until `work` is done.
   */
  snapshot<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  /** A text of several statements, in one commit: what a migration is. */
  script(text: string): Promise<void>;
  /** What the database holds: its tables and their columns, for checks against the schema. */
  tables(): Promise<Map<string, string[]>>;
  /** What is wrong with the connections; undefined when what protects them is in force. Absent on SQLite, which has none. */
  sessionProblem?(): Promise<SessionProblem | undefined>;
  /** The connections of this process, now. Absent on SQLite, which has none. */
  connections?(): Connections;
  close(): Promise<void>;
}

/** How an error begins when a pooler has kept a statement waiting for a server: poolers do so for minutes, without a word. */
export const NO_SERVER = 'no server took the connection';

/** Both databases say so when a commit is opened inside another: it would wait for itself, or not be part of it. */
export const NESTED = 'atomically() does not nest: use the queries that it hands over';

const UNIQUE_VIOLATIONS = new Set(['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY']);
/** The table, or the type of its rows. */
const DUPLICATE_TABLES = new Set(['42P07', '42710']);
const CONTENTIONS = new Set(['40001', '40P01', 'SQLITE_BUSY']);

/** The server refuses the connection: wrong password or role (class 28), no such database, an invalid address. */
const REFUSED = /^(?:28...|3D000|ERR_INVALID_URL)$/;
/** The connection, the server or the disk failed; SQLSTATE classes 08 (connection), 53 (resources) and 57 (operator); 25006: it takes no writes, as after a failover; 25P03: a transaction was idle for too long. */
const UNAVAILABLE =
  /^(?:08...|25006|25P03|53...|57P0.|ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|ENOTFOUND|EAI_AGAIN|SQLITE_(?:FULL|IOERR|CANTOPEN|READONLY).*)$/;
const UNAVAILABLE_MESSAGES =
  /^(?:timeout exceeded when trying to connect|no server took the connection|Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;
/** A pooler gives all its errors one code (PgBouncer: 08P01, that of a broken protocol); these do not pass by waiting. */
const REFUSED_BY_POOLER =
  /unsupported startup parameter|no such (?:user|database)|(?:role|database) ".*" does not exist|auth(?:entication)? failed|not allowed in statement pooling mode|TLS required|SSL required/i;

const codesOf = (error: unknown): string[] => {
  const codes: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string') codes.push(cause.code);
  }
  return codes;
};

/** Whether a statement failed because a row of the same key is there already. */
export const isUniqueViolation = (error: unknown) =>
  codesOf(error).some((code) => UNIQUE_VIOLATIONS.has(code));

/** Whether Postgres refused to create a table that another process has created meanwhile: "if not exists" looks before it locks. */
export const isDuplicateTable = (error: unknown) => codesOf(error).some((code) => DUPLICATE_TABLES.has(code));

/** Whether another part of a table has the values that a new part was to have. */
export const isOverlap = (error: unknown) => codesOf(error).includes('42P17');

/** Whether another writer was in the way, so that the same work may simply be tried again. */
export const isContention = (error: unknown) => codesOf(error).some((code) => CONTENTIONS.has(code));

/** Whether a row stayed locked by another transaction for longer than a statement waits. */
export const isLockTimeout = (error: unknown) => codesOf(error).includes('55P03');

/** Whether the database had too much to do, or another writer was in the way for too long: later it may pass. */
export const isDatabaseBusy = (error: unknown) =>
  isContention(error) || isLockTimeout(error) || codesOf(error).includes('57014');

/** Does `work`, again while another writer is in the way, `triesMax` times at most, `pauseMs` after each that failed. */
export async function tryAgain<T>(
  work: () => Promise<T>,
  {
    triesMax,
    pauseMs = 0,
    isPassing = isContention,
  }: { triesMax: number; pauseMs?: number; isPassing?: (error: unknown) => boolean },
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || tries >= triesMax) throw error;
    }
    if (pauseMs > 0) await delay(pauseMs);
  }
}

/** Whether the server or a pooler answers but refuses this user: waiting does not help, another address or password does. */
export const isDatabaseRefusal = (error: unknown) =>
  codesOf(error).some((code) => REFUSED.test(code)) ||
  (codesOf(error).includes('08P01') && REFUSED_BY_POOLER.test(rootMessage(error)));

/** Whether the server or a pooler is there and has no connection left for this process. */
export const isDatabaseFull = (error: unknown) =>
  codesOf(error).includes('53300') ||
  /no more connections allowed|query_wait_timeout|no server took the connection|timeout exceeded when trying to connect/.test(
    rootMessage(error),
  );

/**
 * Whether the database was unreachable or could not write, which is not the request's fault. While the service runs,
 * a refused connection counts as well: the password or the database was changed under it.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (isDatabaseRefusal(error) || codesOf(error).some((code) => UNAVAILABLE.test(code))) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // node-postgres gives these no code.
    if (UNAVAILABLE_MESSAGES.test(cause.message)) return true;
  }
  return false;
}

/** What a server that is there says: its disk or memory ran out, or one transaction was idle for too long. */
const THERE_ALL_THE_SAME = /^(?:53[12]..|25P03|SQLITE_.*)$/;

/** Whether the server itself could not be reached, so that no statement of anybody would have been answered. */
export const isDatabaseAway = (error: unknown): boolean =>
  isDatabaseUnavailable(error) && !codesOf(error).some((code) => THERE_ALL_THE_SAME.test(code));

/** Rows of [table, column] as a map from table to its columns. */
export function groupColumns(rows: [string, string][]): Map<string, string[]> {
  const tables = new Map<string, string[]>();
  for (const [table, column] of rows) tables.set(table, [...(tables.get(table) ?? []), column]);
  return tables;
}

/** Milliseconds since 1970, as the database has them now. */
export async function readTime({ db, now }: Pick<Database, 'db' | 'now'>): Promise<number> {
  const [row] = await db.select({ nowMs: now }).from(sql`(select 1) as one`);
  if (!row) throw new Error('a statement without conditions gave no row');
  return row.nowMs;
}

/** A stretch of time that a query looks at, and how many rows it may find. */
export interface TimeRange {
  /** Not included. */
  afterMs: number;
  /** Included. */
  untilMs: number;
  limit: number;
}

/** Told of the commits of a file whose commits are numbered. */
export interface CountedCommits {
  /** The number of the last commit that the file has. */
  opened(commits: number): void;
  /** A commit is on disk; called before anybody is answered. */
  committed(commits: number): void;
}
