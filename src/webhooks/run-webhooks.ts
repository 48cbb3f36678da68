/**
 * All that delivers webhooks in one process: the deliverer, and the care of its log: it is trimmed, and alarms tell of
 * endpoints that were turned off.
 */

import { type BusinessTime, type Database, readTime } from '../ledger/database/database.ts';
import { trimDeliveries } from '../ledger/webhooks/delivery-log.ts';
import { endpointsTurnedOff } from '../ledger/webhooks/endpoints.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { createLoop } from '../lib/loop.ts';
import { createDeliverer, type Deliverer, type DelivererDeps, type DelivererSettings } from './deliver.ts';
import { type PostDeps, post } from './post.ts';

/** Runs nothing before `start`. */
export function createWebhooks(
  deps: Omit<DelivererDeps, 'post' | 'onTurnedOff'> & LogTrimmerDeps & PostDeps,
  settings: DelivererSettings & LogTrimmerSettings,
): Deliverer {
  const care = createLogTrimmer(deps, settings);
  const deliverer = createDeliverer(
    { ...deps, post: (wish) => post(deps, wish), onTurnedOff: care.nudge },
    settings,
  );
  return {
    start() {
      deliverer.start();
      care.start();
    },
    nudge: deliverer.nudge,
    async stop() {
      await Promise.all([deliverer.stop(), care.stop()]);
    },
  };
}

// Trims the log of deliveries, and raises an alarm for each endpoint that was turned off for what it answered.

interface LogTrimmerDeps {
  database: Database;
  businessTime: BusinessTime;
  log: Log;
  alarms: {
    raise(code: 'webhook_endpoint_off', about: string, facts: LogFields): void;
    clear(code: 'webhook_endpoint_off', about: string): void;
  };
}

interface LogTrimmerSettings {
  /** How long attempts are kept, by the ledger's time. */
  keptMs: number;
  /** Rows that one commit deletes. */
  trimMax: number;
  lookEveryMs: number;
}

/** A loop that every process which delivers has; what it does twice is done once. */
function createLogTrimmer(
  { database, businessTime, log, alarms }: LogTrimmerDeps,
  settings: LogTrimmerSettings,
) {
  let alarming = new Set<string>();
  return createLoop({
    name: 'webhook log',
    async turn(signal) {
      const off = await endpointsTurnedOff(database.db);
      for (const { id, brandId, why } of off)
        alarms.raise('webhook_endpoint_off', id, {
          brandId,
          why,
          fix: `rewards webhooks endpoints enable ${id}`,
        });
      const now = new Set(off.map(({ id }) => id));
      for (const id of alarming) if (!now.has(id)) alarms.clear('webhook_endpoint_off', id);
      alarming = now;
      const nowMs = await readTime({ db: database.db, now: businessTime() });
      const old = { beforeMs: nowMs - settings.keptMs, limit: settings.trimMax };
      while (!signal.aborted && (await database.atomically((tx) => trimDeliveries(tx, old))) > 0);
      return 'idle';
    },
    pauseMs: () => settings.lookEveryMs,
    log,
  });
}
