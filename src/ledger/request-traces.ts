/**
 * Answered requests of production: written in bunches, read newest first, and forgotten after their time. Postgres keeps each
 * day in a part of its own, made before its first row and dropped as a whole.
 */
import { and, desc, eq, gt, gte, inArray, lt, or, type SQL } from 'drizzle-orm';
import { allPlaces } from '../lib/ids.ts';
import {
  type Database,
  isDuplicateTable,
  isLockTimeout,
  isOverlap,
  isUniqueViolation,
  type Queries,
} from './database/database.ts';
import { bulkInsert } from './database/many-values.ts';
import { requestTraces, tracePlace } from './schema/request-traces.ts';

export type RequestTrace = typeof requestTraces.$inferSelect;

/** Those that are there already stay as they are. */
export const insertRequestTraces = bulkInsert(requestTraces, (insert) => insert.onConflictDoNothing());

export interface TraceFilter {
  /** `404`, `4xx`, or nothing. */
  status: string;
  method?: string | undefined;
  host?: string | undefined;
  /** Of the first event or call. */
  brand?: string | undefined;
  decision?: string | undefined;
  /** A part of the path. */
  path?: string | undefined;
  userHash?: string | undefined;
  /** Only requests younger than the one with this id. */
  after?: string | undefined;
  limit: number;
}

/** As the index has them: a user's rows are looked for in all places. */
const ofUser = (userHash: string): SQL | undefined =>
  and(inArray(tracePlace, allPlaces()), eq(requestTraces.userHash, userHash));

/** How far back is looked for what no column has: host, brand, decision, and a part of the path. */
const SEARCHED_MAX = 5_000;

/** Newest first. */
export async function listRequestTraces(db: Queries, filter: TraceFilter): Promise<RequestTrace[]> {
  const { status, method, host, brand, decision, path, userHash, after, limit } = filter;
  const lowest = Number(status.replace('xx', '00'));
  const [known] = after ? await db.select().from(requestTraces).where(eq(requestTraces.id, after)) : [];
  const conditions: (SQL | undefined)[] = [
    status === '' ? undefined : gte(requestTraces.status, lowest),
    status === '' ? undefined : lt(requestTraces.status, lowest + (status.endsWith('xx') ? 100 : 1)),
    method && eq(requestTraces.method, method.toUpperCase()),
    userHash && ofUser(userHash),
    known &&
      or(gt(requestTraces.at, known.at), and(eq(requestTraces.at, known.at), gt(requestTraces.id, known.id))),
  ].map((one) => one || undefined);
  const found = await db
    .select()
    .from(requestTraces)
    .where(and(...conditions))
    .orderBy(desc(requestTraces.at), desc(requestTraces.id))
    .limit(path || host || brand || decision ? SEARCHED_MAX : limit);
  const fits = ({ path: own, detail }: RequestTrace) =>
    (!path || own.includes(path)) &&
    (!host || detail.host === host) &&
    (!brand || String(detail.brandId).toLowerCase() === brand.toLowerCase()) &&
    (!decision || detail.decision === decision);
  return found.filter(fits).slice(0, limit);
}

/** Every request that `name` may mean: an id or its beginning, with or without `req_`, or `latest`. */
export async function findRequestTraces(db: Queries, name: string, limit: number): Promise<RequestTrace[]> {
  if (name === 'latest') return listRequestTraces(db, { status: '', limit: 1 });
  const beginning = name.startsWith('req_') ? name : `req_${name}`;
  if (!/^req_[0-9a-f]+$/.test(beginning)) return [];
  return (
    db
      .select()
      .from(requestTraces)
      // Every digit of an id comes before g.
      .where(and(gte(requestTraces.id, beginning), lt(requestTraces.id, `${beginning}g`)))
      .orderBy(desc(requestTraces.at))
      .limit(limit)
  );
}

/** Forgets at most `limit` requests from before `beforeMs`; returns how many there were. */
export async function pruneRequestTraces(
  db: Queries,
  { beforeMs, limit }: { beforeMs: number; limit: number },
): Promise<number> {
  const old = await db
    .select({ id: requestTraces.id })
    .from(requestTraces)
    .where(lt(requestTraces.at, beforeMs))
    .limit(limit);
  if (old.length === 0) return 0;
  await db.delete(requestTraces).where(
    inArray(
      requestTraces.id,
      old.map(({ id }) => id),
    ),
  );
  return old.length;
}

const DAY_MS = 86_400_000;
/** The part of a day, or of all that there was before a day. */
const PART_OF = /^request_traces_(until_)?(\d{4})(\d\d)(\d\d)$/;

export interface TraceDays {
  /** Makes room for rows; where there is room already, as almost always, it asks nobody. */
  makeRoom(rows: readonly Pick<RequestTrace, 'at'>[]): Promise<void>;
  /** Forgets what is older than `keptMs`; whether there may be more of it. */
  forget(nowMs: number, keptMs: number): Promise<boolean>;
}

/** `prunedAtOnce`: rows of one statement, where rows are deleted. */
export function createTraceDays(database: Database, prunedAtOnce: number): TraceDays {
  const inParts = database.dialect === 'postgres';
  const known = new Set<number>();
  return {
    async makeRoom(rows) {
      if (!inParts) return;
      for (const { at } of rows) {
        const day = Math.floor(at / DAY_MS);
        if (known.has(day)) continue;
        await makeDay(database, day);
        known.add(day);
      }
    },
    async forget(nowMs, keptMs) {
      const beforeMs = nowMs - keptMs;
      if (inParts) await dropDays(database, beforeMs);
      // Days go as a whole, at most one day late.
      if (inParts && keptMs >= DAY_MS) return false;
      return (await pruneRequestTraces(database.db, { beforeMs, limit: prunedAtOnce })) === prunedAtOnce;
    },
  };
}

const partOf = (day: number) =>
  `request_traces_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;

/** Made by itself and attached after that, which waits for no reader of the other days, such as a backup. */
async function makeDay(database: Database, day: number): Promise<void> {
  const part = partOf(day);
  try {
    await database.script(
      `create table ${part} (like request_traces including all);
       alter table request_traces attach partition ${part} for values from (${day * DAY_MS}) to (${(day + 1) * DAY_MS})`,
    );
  } catch (error) {
    // Another process has made it, or the part of what was there before has this day.
    if (!isDuplicateTable(error) && !isUniqueViolation(error) && !isOverlap(error)) throw error;
  }
}

async function dropDays(database: Database, beforeMs: number): Promise<void> {
  for (const part of (await database.tables()).keys()) {
    const [, until, year, month, date] = PART_OF.exec(part) ?? [];
    if (year === undefined) continue;
    const named = Date.UTC(Number(year), Number(month) - 1, Number(date));
    if (named + (until ? 0 : DAY_MS) > beforeMs) continue;
    try {
      // It waits for who reads the traces, and whoever writes them waits behind it: not for long.
      await database.script(`set local lock_timeout = 1500; drop table if exists ${part}`);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
  }
}
