/** The days of request traces: Postgres keeps each in a part of its own, made before its first row and dropped as a whole. */
import {
  type Database,
  isDuplicateTable,
  isLockTimeout,
  isOverlap,
  isUniqueViolation,
} from './database/database.ts';
import { pruneRequestTraces, type RequestTrace } from './request-traces.ts';

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
