/** Production's memory of requests: a line of the log for each, and a row for `requests explain`, written off their path. */
import { brandOf, decisionOf, type RequestRecord } from '../../http/frame/request-record.ts';
import type { Database } from '../../ledger/database/database.ts';
import { createTraceDays, insertRequestTraces, type RequestTrace } from '../../ledger/request-traces.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';
import type { EventLimits } from '../../rules/events/explain-event.ts';
import { rowOf } from './kept-request.ts';
import { createTraceShare, type TracesKeep } from './trace-share.ts';

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
