/** Production's memory of requests: a line of the log for each, and a row for `requests explain`, written off their path. */
import { brandOf, decisionOf, type RequestRecord } from '../../http/frame/request-record.ts';
import type { Database } from '../../ledger/database/database.ts';
import { createTraceDays, insertRequestTraces, type RequestTrace } from '../../ledger/request-traces.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import type { EventLimits } from '../../rules/events/explain-event.ts';
import { rowOf } from './kept-request.ts';

/**
 * `all`: each one. `decisions`: those that decided about an event or a call, and those that failed. `sampled`: each one up to
 * `SAMPLED_ABOVE` a second, and of more a share that makes about as many.
 */
type TracesKeep = 'all' | 'decisions' | 'sampled';

/** Requests of a second, of one process, that are kept whatever they are: some 15 GB a day, and more than a person looks through. */
export const SAMPLED_ABOVE = 100;
const SECOND_MS = 1_000;
/** The last digits of an id are random. */
const SHARE_DIGITS = 4;
const SHARES = 16 ** SHARE_DIGITS;

type Traced = Pick<RequestRecord, 'id' | 'status' | 'traces'>;

/** Answers that are our fault are kept always. */
export function createTraceShare(keep: TracesKeep, nowMs: () => number): (record: Traced) => boolean {
  let second = { number: 0, count: 0 };
  let share = 1;
  const count = () => {
    const number = Math.floor(nowMs() / SECOND_MS);
    if (number !== second.number) {
      // The share of this second comes from the one before it; a pause begins anew.
      const before = number === second.number + 1 ? second.count : 0;
      share = before > SAMPLED_ABOVE ? SAMPLED_ABOVE / before : 1;
      second = { number, count: 0 };
    }
    second.count += 1;
  };
  return ({ id, status, traces }) => {
    if (keep === 'all') return true;
    if (keep === 'decisions') return status >= 500 || traces.length > 0;
    count();
    // By its id, so that whether a request is kept does not depend on what came with it.
    return status >= 500 || Number.parseInt(id.slice(-SHARE_DIGITS), 16) < share * SHARES;
  };
}

/** Requests that wait to be written: some seconds of a busy service, and bounded in memory. */
const WAITING_MAX = 5_000;
/** Rows of one commit, which is some 3 ms on SQLite; they are written as soon as this many wait. */
const WRITTEN_AT_ONCE = 200;
const WRITE_EVERY_MS = 500;
const PRUNE_EVERY_MS = 60_000;
/** More than are written meanwhile, and few enough that no request notices. */
const PRUNED_AT_ONCE = 500;

interface TraceDeps {
  database: Database;
  clock: Clock;
  log: Log;
  userHash: (userKey: string) => string;
  /** Told of requests that no row is kept of, since the database is too slow for them. */
  onDropped: () => void;
}

interface TraceSettings extends EventLimits {
  /** 0: no rows. */
  keptMs: number;
  keep: TracesKeep;
}

export function createRequestTraces(deps: TraceDeps, settings: TraceSettings) {
  const { database, clock, log, userHash } = deps;
  const { bodyLimitBytes, duplicateWindowMs } = settings;
  const limits = { bodyLimitBytes, duplicateWindowMs };
  const waiting: RequestTrace[] = [];
  const isKept = createTraceShare(settings.keep, () => clock.now());
  const days = createTraceDays(database, PRUNED_AT_ONCE);
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  const writing = createLoop({
    name: 'request traces',
    async turn() {
      const some = waiting.slice(0, WRITTEN_AT_ONCE);
      const { now } = clock;
      await days.makeRoom(some);
      await insertRequestTraces(database.db, some);
      waiting.splice(0, some.length);
      if (now() - prunedAtMs >= PRUNE_EVERY_MS) {
        if (!(await days.forget(now(), settings.keptMs))) prunedAtMs = now();
      }
      return waiting.length >= WRITTEN_AT_ONCE ? 'worked' : 'idle';
    },
    pauseMs: () => WRITE_EVERY_MS,
    log,
  });
  if (settings.keptMs > 0) writing.start();
  return {
    /** One request that was answered. */
    observe(record: RequestRecord): void {
      const row = rowOf(record, { limits, userHash });
      logRequest(record, { log, user: row.userHash });
      if (settings.keptMs === 0 || !isKept(record)) return;
      if (waiting.length < WAITING_MAX) waiting.push(row);
      else deps.onDropped();
      // Once: a database that is away is asked again at the loop's own pace.
      if (waiting.length === WRITTEN_AT_ONCE) writing.nudge();
    },
    /** Writes what waits, as far as the database takes it. */
    async stop(): Promise<void> {
      await writing.stop();
      if (settings.keptMs === 0) return;
      const rows = waiting.splice(0);
      for (let from = 0; from < rows.length; from += WRITTEN_AT_ONCE) {
        const some = rows.slice(from, from + WRITTEN_AT_ONCE);
        await days
          .makeRoom(some)
          .then(() => insertRequestTraces(database.db, some))
          .catch(() => undefined);
      }
    },
  };
}

/** `user`: the hash in place of the first event's user. */
function logRequest(record: RequestRecord, { log, user }: { log: Log; user: string | null }): void {
  const { id, method, route, status, durationMs, traces } = record;
  const [first] = traces;
  log.info(
    {
      request: id,
      method,
      route,
      status,
      ms: durationMs,
      decision: first && decisionOf(first),
      events: traces.length > 1 ? traces.length : undefined,
      brand: brandOf(first),
      user: user ?? undefined,
    },
    'request',
  );
}
