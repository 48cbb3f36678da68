/** What protects a process from a transaction that stands still, and how it is put in force, with a pooler in between or without. */
import type pg from 'pg';
import { NO_SERVER, type Pooler, type SessionProblem } from './database.ts';

/** Settings of a connection, in the words of Postgres. */
type Protections = Readonly<Record<string, string>>;

const PROTECTIONS: Protections = {
  /**
   * How long a process may leave a transaction idle. Our transactions talk only to the database, so only a process that
   * is stopped, or lost with its machine, takes longer; its locks would keep all other processes waiting meanwhile.
   */
  idle_in_transaction_session_timeout: '3000',
  /**
   * How long a statement waits for a row that another transaction has locked. Our own transactions end within
   * milliseconds, so only one that stands still takes longer: a person's, or a large block's. A server looks for deadlocks
   * after a second, and should find them first.
   */
  lock_timeout: '1500',
};
/** What an address may set beside them. A pooler refuses each of the three as a parameter of the connection. */
const IN_ADDRESS = [...Object.keys(PROTECTIONS), 'statement_timeout'];

export interface Sessions {
  /** The address without the settings that are sent in another way. */
  connectionString: string;
  /** Puts them in force on a new connection, where it stays the same one. */
  onConnect?: (client: pg.ClientBase) => Promise<void>;
  /** Begins a transaction, with `kind` behind the word; `local` are settings of this transaction alone. One message. */
  begin(connection: pg.ClientBase, options?: { kind?: string; local?: Protections }): Promise<void>;
  /** Whether the server may remember statements by their names. */
  remembersNames: boolean;
  /** Whether a statement by itself is protected as well; otherwise one that writes needs a transaction around it. */
  protectsSingles: boolean;
  protections: Protections;
}

/** How the connections of a pool are set up; `waitMs`: for a server of a pooler. */
export function sessionsOf(url: string, { pooler, waitMs }: { pooler: Pooler; waitMs: number }): Sessions {
  const { connectionString, protections } = takeProtections(url);
  const isShared = pooler === 'transaction';
  const forget = pooler === 'session' ? 'deallocate all; ' : '';
  return {
    connectionString,
    protections,
    remembersNames: !isShared,
    protectsSingles: !isShared,
    ...(!isShared && {
      // Of whoever had this server before, where the pooler has not cleared it.
      onConnect: (client) => first(client, forget + settingText('set', protections), waitMs),
    }),
    async begin(connection, { kind = '', local = {} } = {}) {
      const settings = { ...(isShared && protections), ...local };
      const text = [`begin${kind && ` ${kind}`}`, settingText('set local', settings)]
        .filter(Boolean)
        .join('; ');
      try {
        await (isShared ? first(connection, text, waitMs) : connection.query(text));
      } catch (error) {
        // What follows `begin` may have failed alone, and has left a transaction open.
        await connection.query('rollback').catch(() => undefined);
        throw error;
      }
    },
  };
}

/** The settings that an address has go another way, with ours where it has none. */
function takeProtections(url: string): { connectionString: string; protections: Protections } {
  if (!URL.canParse(url)) return { connectionString: url, protections: PROTECTIONS };
  const address = new URL(url);
  const given: Record<string, string> = {};
  for (const name of IN_ADDRESS) {
    const value = address.searchParams.get(name);
    if (value !== null) given[name] = value;
    address.searchParams.delete(name);
  }
  const isTouched = Object.keys(given).length > 0;
  return {
    connectionString: isTouched ? address.href : url,
    protections: { ...PROTECTIONS, ...given },
  };
}

const settingText = (verb: 'set' | 'set local', settings: Protections) =>
  Object.entries(settings)
    .map(([name, value]) => `${verb} ${name} = '${value.replaceAll("'", "''")}'`)
    .join('; ');

/** A message that waits for a server of the pooler. The connection is of no use after one that waited in vain. */
async function first(connection: pg.ClientBase, text: string, waitMs: number): Promise<void> {
  const message = { text, query_timeout: waitMs };
  try {
    await connection.query(message);
  } catch (error) {
    if (!(error instanceof Error) || error.message !== 'Query read timeout') throw error;
    // A pooler reads nothing of a connection that waits, a goodbye neither.
    (connection as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    throw new Error(`${NO_SERVER} within ${waitMs} ms`);
  }
}

/** Two connections, each asked so often: enough to see a pooler that hands its servers round. */
const ROUNDS = 4;

/** Reads back, through the pool itself, what protects its connections; undefined when all of it is in force. */
export async function checkSessions({
  pool,
  sessions,
}: {
  pool: pg.Pool;
  sessions: Sessions;
}): Promise<SessionProblem | undefined> {
  const one = await pool.connect();
  let failure: Error | undefined;
  try {
    if (sessions.protectsSingles && (await isShared(pool, one))) return { kind: 'shared', missing: [] };
    await sessions.begin(one);
    const missing = await notInForce(one, sessions.protections);
    await one.query('rollback');
    return missing.length > 0 ? { kind: 'unprotected', missing } : undefined;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    one.release(failure);
  }
}

async function notInForce(connection: pg.ClientBase, protections: Protections): Promise<string[]> {
  const { rows } = await connection.query<{ name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [Object.keys(protections)],
  );
  const inForce = new Map(rows.map(({ name, setting }) => [name, Number(setting)]));
  return Object.entries(protections).flatMap(([name, value]) => {
    const [is = 0, wanted] = [inForce.get(name), Number(value)];
    // A value with a unit, such as `2s`, is the server's to read; 0 is no protection, and somebody's wish.
    const isThere = Number.isNaN(wanted) ? is > 0 : is === wanted;
    return isThere ? [] : [`${name}=${value}`];
  });
}

/** Whether this connection and another one get the same server, or this one gets different ones. */
async function isShared(pool: pg.Pool, one: pg.ClientBase): Promise<boolean> {
  const other = await pool.connect();
  try {
    // Twice in a row: a pooler that hands its servers round gives another one at once.
    const servers = new Set([await serverOf(one), await serverOf(one)]);
    for (let round = 0; round < ROUNDS && servers.size === 1; round++) {
      await other.query('begin');
      const taken = await serverOf(other);
      // Not asked while the other one may have the only server.
      if (servers.has(taken)) return true;
      servers.add(await serverOf(one));
      await other.query('rollback');
      servers.add(await serverOf(one)).add(await serverOf(one));
    }
    return servers.size > 1;
  } finally {
    // Whatever became of it: a transaction may be open on it.
    other.release(true);
  }
}

async function serverOf(connection: pg.ClientBase): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
