/** Production's memory of requests: a line of the log for each, and a row for `requests explain`, written off their path. */
import { requestDetail } from '../../http/control/request-summary.ts';
import {
  brandOf,
  decisionOf,
  type RequestRecord,
  userOf,
  withUser,
} from '../../http/frame/request-record.ts';
import type { Database } from '../../ledger/database/database.ts';
import { insertRequestTraces, pruneRequestTraces, type RequestTrace } from '../../ledger/request-traces.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Log, scrub } from '../../lib/log.ts';
import { createLoop } from '../../lib/loop.ts';

/** Requests that wait to be written: some seconds of a busy service, and bounded in memory. */
const WAITING_MAX = 5_000;
/** Rows of one statement: seven values each, far below what a statement may have. */
const WRITTEN_AT_ONCE = 200;
const WRITE_EVERY_MS = 500;
const PRUNE_EVERY_MS = 60_000;
const PRUNED_AT_ONCE = 5_000;

interface TraceDeps {
  database: Database;
  clock: Clock;
  log: Log;
  userHash: (userKey: string) => string;
  /** Told of requests that no row is kept of, since the database is too slow for them. */
  onDropped: () => void;
}

interface TraceSettings {
  /** 0: no rows. */
  keptMs: number;
  bodyLimitBytes: number;
  duplicateWindowMs: number;
}

export function createRequestTraces(deps: TraceDeps, settings: TraceSettings) {
  const { database, clock, log } = deps;
  const waiting: RequestRecord[] = [];
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  const writing = createLoop({
    name: 'request traces',
    async turn() {
      const some = waiting.slice(0, WRITTEN_AT_ONCE);
      const { now } = clock;
      await insertRequestTraces(
        database.db,
        some.map((record) => rowOf(record, { ...deps, settings, nowMs: now() })),
      );
      waiting.splice(0, some.length);
      if (now() - prunedAtMs >= PRUNE_EVERY_MS) {
        const beforeMs = now() - settings.keptMs;
        const pruned = await pruneRequestTraces(database.db, { beforeMs, limit: PRUNED_AT_ONCE });
        if (pruned < PRUNED_AT_ONCE) prunedAtMs = now();
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
      logRequest(record, deps);
      if (settings.keptMs === 0) return;
      // No row has the bodies: they need not wait in memory.
      if (waiting.length < WAITING_MAX)
        waiting.push({ ...record, search: '', requestBody: undefined, responseBody: undefined });
      else deps.onDropped();
    },
    /** Writes what waits, as far as the database takes it. */
    async stop(): Promise<void> {
      await writing.stop();
      if (settings.keptMs === 0) return;
      const rows = waiting
        .splice(0)
        .map((record) => rowOf(record, { ...deps, settings, nowMs: clock.now() }));
      for (let from = 0; from < rows.length; from += WRITTEN_AT_ONCE) {
        await insertRequestTraces(database.db, rows.slice(from, from + WRITTEN_AT_ONCE)).catch(
          () => undefined,
        );
      }
    },
  };
}

function logRequest(record: RequestRecord, { log, userHash }: TraceDeps): void {
  const { id, method, route, status, durationMs, traces } = record;
  const [first] = traces;
  const user = userOf(first);
  const brand = brandOf(first);
  log.info(
    {
      request: id,
      method,
      route,
      status,
      ms: durationMs,
      ...(first && { decision: decisionOf(first) }),
      ...(traces.length > 1 && { events: traces.length }),
      ...(brand !== undefined && { brand }),
      ...(user !== undefined && { user: userHash(user) }),
    },
    'request',
  );
}

/** Without bodies, query and anybody's address. */
function rowOf(
  record: RequestRecord,
  of: Pick<TraceDeps, 'userHash'> & { settings: TraceSettings; nowMs: number },
): RequestTrace {
  const { id, atMs: at, method, path, status } = record;
  const user = userOf(record.traces[0]);
  const traces = record.traces.map((trace) => withUser(trace, of.userHash));
  const bare = { ...record, search: '', requestBody: undefined, responseBody: undefined, traces };
  const { settings: limits, nowMs } = of;
  const detail = JSON.parse(scrub(JSON.stringify(requestDetail(bare, { limits, nowMs }))));
  return {
    ...{ id, at, method, path: scrub(path), status, detail },
    userHash: user === undefined ? null : of.userHash(user),
  };
}
