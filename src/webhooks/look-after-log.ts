/** Trims the log of deliveries, and raises an alarm for each endpoint that was turned off for what it answered. */
import type { Database } from '../ledger/database/database.ts';
import { trimDeliveries } from '../ledger/webhooks/delivery-log.ts';
import { endpointsTurnedOff } from '../ledger/webhooks/endpoints.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log, LogFields } from '../lib/log.ts';
import { createLoop } from '../lib/loop.ts';

export interface LogCareDeps {
  database: Database;
  clock: Pick<Clock, 'now'>;
  log: Log;
  alarms: {
    raise(code: 'webhook_endpoint_off', about: string, facts: LogFields): void;
    clear(code: 'webhook_endpoint_off', about: string): void;
  };
}

export interface LogCareSettings {
  /** How long attempts are kept, by the service's clock. */
  keptMs: number;
  /** Rows that one commit deletes. */
  trimMax: number;
  lookEveryMs: number;
}

/** A loop that every process which delivers has; what it does twice is done once. */
export function createLogCare({ database, clock, log, alarms }: LogCareDeps, settings: LogCareSettings) {
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
      const old = { beforeMs: clock.now() - settings.keptMs, limit: settings.trimMax };
      while (!signal.aborted && (await database.atomically((tx) => trimDeliveries(tx, old))) > 0);
      return 'idle';
    },
    pauseMs: () => settings.lookEveryMs,
    log,
  });
}
