/** SQLite behind the ledger's port: one writer, every commit on disk before it is acknowledged. */
import SQLite from 'better-sqlite3';
import { getTableColumns, sql } from 'drizzle-orm';
import { createNestingWatch } from '../../lib/async-context.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createMutex } from '../../lib/mutex.ts';
import { type CountedCommits, type Database, groupColumns, NESTED, type Queries } from './database.ts';
import { type Insert, type Spelling, spelledQueries } from './drizzle-internals.ts';
import { rowsAsJson, rowsOf } from './many-values.ts';
import { type RunStatement, runDirectly } from './prepared-query.ts';

/** Pages kept in memory by each connection, in KiB: enough for the hot indexes at a million claims. */
const CACHE_KIB = 32 * 1024;
/** Compiled statements kept; multi-row statements differ by their row count. */
const COMPILED_MAX = 500;

/** The ledger's queries, spelled for SQLite, on whatever runs a statement. */
export function sqliteQueries(run: RunStatement): Queries {
  return runDirectly(spelledQueries(sqliteSpelling, run), run);
}

/**
 * Opens the file (or `:memory:`). Only this process may write to it.
 * WAL first and then `synchronous=FULL`: better-sqlite3 is compiled so that WAL alone runs at NORMAL,
 * which may lose the last commits when the power fails. Without `durable`, for a ledger that nobody keeps, no commit waits
 * for the disk. `watchNesting`: a commit inside another fails, rather than to wait for itself. `queriesOn` lets a caller observe each statement; `clock` is
 * the database's, for which the machine's own serves: there is one process. `counted`: commits are numbered in the file.
 */
export function openSqlite(
  path: string,
  {
    queriesOn = sqliteQueries,
    clock = systemClock(),
    durable = true,
    watchNesting = true,
    counted,
  }: {
    queriesOn?: (run: RunStatement) => Queries;
    clock?: Pick<Clock, 'now'>;
    durable?: boolean;
    watchNesting?: boolean;
    counted?: CountedCommits | undefined;
  } = {},
): Database {
  const writer = connect(path, { clock, durable });
  const commits = counted && countCommits(writer, counted);
  const reader = path === ':memory:' ? writer : connect(path, { clock, durable, readonly: true });
  const exclusive = createMutex();
  const writeSingle = createSingleWrites(writer, exclusive, commits);
  const nesting = createNestingWatch({ isOn: watchNesting });

  const tx = queriesOn(async (text, params, method) => run(writer, text, params, method));
  const db = queriesOn(async (text, params, method) => {
    if (nesting.isInside()) throw new Error('inside atomically(), use the queries that it hands over');
    // An in-memory database has one connection: a select on it would see what an open commit may still roll back.
    if (reader !== writer && /^(?:select|with\s)/.test(text) && !/\b(?:insert|update|delete)\b/.test(text)) {
      return run(reader, text, params, method);
    }
    return writeSingle({ text, params, method });
  });

  const begin = createCommits({ writer, exclusive, nesting, commits });

  return {
    dialect: 'sqlite',
    now: sql<number>`now_ms()`.mapWith(Number),
    db,
    atomically: async (work) => begin(() => work(tx)),
    async snapshot(work) {
      if (reader === writer) return exclusive(() => work(tx));
      const own = connect(path, { clock, durable, readonly: true });
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

/** Runs work in a commit of its own, one after the other. */
function createCommits(of: {
  writer: Connection;
  exclusive: ReturnType<typeof createMutex>;
  nesting: ReturnType<typeof createNestingWatch>;
  commits: CommitCount | undefined;
}) {
  const { writer, exclusive, nesting, commits } = of;
  return <T>(work: () => Promise<T>) => {
    if (nesting.isInside()) throw new Error(NESTED);
    return exclusive(async () => {
      writer.exec('begin immediate');
      commits?.begin();
      try {
        const value = await nesting.run(work);
        commits?.number();
        writer.exec('commit');
        commits?.tell();
        return value;
      } catch (error) {
        if (writer.inTransaction) writer.exec('rollback');
        throw error;
      }
    });
  };
}

type Connection = ReturnType<typeof connect>;
type Answer = ReturnType<typeof run>;

interface Single {
  text: string;
  params: unknown[];
  method: 'all' | 'execute';
}
type WaitingSingle = Single & { resolve: (answer: Answer) => void; reject: (error: unknown) => void };

/** Single statements that wait for their turn at the same time share a commit: each would wait for the disk otherwise. */
function createSingleWrites(
  writer: Connection,
  exclusive: ReturnType<typeof createMutex>,
  commits: CommitCount | undefined,
) {
  let waiting: WaitingSingle[] = [];
  const turn = async () => {
    const together = waiting;
    waiting = [];
    try {
      const isAlone = together.length === 1 && !commits;
      const answers = isAlone ? runAll(writer, together) : runInOneCommit(writer, together, commits);
      for (const answer of answers) answer();
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  };
  return (single: Single): Promise<Answer> =>
    new Promise((resolve, reject) => {
      waiting.push({ ...single, resolve, reject });
      if (waiting.length === 1) void exclusive(turn);
    });
}

/** Runs statements one after the other, and returns what tells each caller of its answer; one that fails changes nothing of the others. */
function runAll(writer: Connection, singles: WaitingSingle[]): (() => void)[] {
  const isCommit = writer.inTransaction;
  return singles.map(({ text, params, method, resolve, reject }) => {
    try {
      const answer = run(writer, text, params, method);
      return () => resolve(answer);
    } catch (error) {
      // A full disk, for example, ends the whole commit.
      if (isCommit && !writer.inTransaction) throw error;
      return () => reject(error);
    }
  });
}

function runInOneCommit(
  writer: Connection,
  singles: WaitingSingle[],
  commits: CommitCount | undefined,
): (() => void)[] {
  writer.exec('begin immediate');
  commits?.begin();
  try {
    const answers = runAll(writer, singles);
    commits?.number();
    writer.exec('commit');
    commits?.tell();
    return answers;
  } catch (error) {
    if (writer.inTransaction) writer.exec('rollback');
    throw error;
  }
}

function run(connection: Connection, text: string, params: unknown[], method: 'all' | 'execute') {
  const statement = connection.compile(text);
  const values = params.map(sqliteValue);
  if (!statement.reader) {
    statement.run(...values);
    return { rows: [] };
  }
  return { rows: statement.raw(method === 'all').all(...values) };
}

/** SQLite has neither booleans nor lists: those are 0 and 1, and JSON. */
function sqliteValue(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

type CommitCount = ReturnType<typeof countCommits>;

/** As large as the header's number can be. */
const COMMITS_MAX = 2 ** 31;

/** Numbers commits that change something in the header of the file, so that a loss of the last ones can be counted. */
function countCommits(writer: Connection, told: CountedCommits) {
  const one = (text: string) => {
    const [row] = run(writer, text, [], 'all').rows as [value: number][];
    return row?.[0] ?? 0;
  };
  const changes = () => one('select total_changes()');
  let last = one('pragma user_version');
  let next = last;
  let before = 0;
  told.opened(last);
  return {
    /** At the beginning of a commit. */
    begin(): void {
      before = changes();
      next = last;
    },
    /** Before its end. One that changed nothing is none, and costs no page. */
    number(): void {
      if (changes() === before) return;
      next = (last + 1) % COMMITS_MAX;
      writer.exec(`pragma user_version = ${next}`);
    },
    /** After it. */
    tell(): void {
      if (next === last) return;
      last = next;
      told.committed(last);
    },
  };
}

interface ConnectOptions extends SQLite.Options {
  clock: Pick<Clock, 'now'>;
  durable: boolean;
}

function connect(path: string, { clock, durable, ...options }: ConnectOptions) {
  const sqlite = new SQLite(path, options);
  sqlite.function('now_ms', { deterministic: false }, () => clock.now());
  if (!options.readonly) {
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('foreign_keys = ON');
  }
  sqlite.pragma(`synchronous = ${durable ? 'FULL' : 'OFF'}`);
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

// The Postgres dialect of the query builder as SQLite understands it.

/** Lists and rows are JSON in SQLite, whose functions have other names. */
const IN_SQLITE: [inPostgres: RegExp, inSqlite: string][] = [
  [/= any\(\?\)/g, 'in (select value from json_each(?))'],
  [/cast\((value ->> \d+) as \w+\)/g, '$1'],
  [/cast\(\? as jsonb\)/g, '?'],
  // Its values are parsed once: `json_each` writes each of them out as text for every column that is taken from it.
  [/jsonb_array_elements\(/g, 'jsonb_each('],
];

/** The spellings that SQLite does not share. */
export const sqliteSpelling: Spelling = {
  parameter: '?',
  text: (inPostgres) => IN_SQLITE.reduce((sofar, [from, to]) => sofar.replace(from, to), inPostgres),
  insert,
};

/** SQLite knows no DEFAULT inside VALUES, so defaults and nulls are written out. */
function insert(config: Insert): Insert {
  if (config.select || !Array.isArray(config.values)) return config;
  const json = config.values.length > 1 ? rowsAsJson(config.table, config.values) : undefined;
  if (json) return { ...config, select: true, values: rowsOf(config.table, json) };
  const columns = Object.entries(getTableColumns(config.table));
  const values = config.values.map((row) => {
    const full = { ...row };
    for (const [name, column] of columns) {
      if (full[name] !== undefined || column.defaultFn) continue;
      full[name] = column.default === undefined ? sql`null` : sql`${column.default}`;
    }
    return full;
  });
  return { ...config, values };
}

/** Returns the function that compiles a text once. Above `max`, the least recently used is dropped. */
export function createStatementCache<S>(max: number, compile: (text: string) => S): (text: string) => S {
  // A map keeps insertion order, so its first entry is the least recently used.
  const compiled = new Map<string, S>();
  return (text) => {
    const statement = compiled.get(text) ?? compile(text);
    compiled.delete(text);
    compiled.set(text, statement);
    const [oldest] = compiled.keys();
    if (compiled.size > max && oldest !== undefined) compiled.delete(oldest);
    return statement;
  };
}
