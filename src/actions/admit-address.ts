/** Counts requests by client address; requests that arrive together share a commit. */
import { type BusinessTime, type Database, tryAgain } from '../ledger/database/database.ts';
import {
  forgetOldWindows,
  type RateLimit,
  type RateWindow,
  takeFromWindows,
} from '../ledger/limits/rate-windows.ts';
import { createBatcher } from '../lib/batch/batcher.ts';
import type { Clock } from '../lib/clock.ts';

interface AdmitAddressDeps {
  database: Database;
  clock: Clock;
  businessTime: BusinessTime;
  /** Contract: Limits, Relay API requests; per address. */
  limit: RateLimit;
  batchMax: number;
  triesMax: number;
  /** Windows older than this are deleted, whatever they counted. */
  windowsKeptMs: number;
}

/** Returns the function that counts one request of an address, and tells whether it is admitted. */
export function createAddressGate(deps: AdmitAddressDeps) {
  const { database, clock, limit } = deps;
  let cleanedAtMs = clock.now();
  const batcher = createBatcher<string, RateWindow & { taken: boolean }>({
    maxItems: deps.batchMax,
    run: (addresses) => tryAgain(() => takeAll(addresses), deps),
  });

  const takeAll = (addresses: string[]) =>
    database.atomically(async (tx) => {
      const nowMs = clock.now();
      const answers = await takeFromWindows(tx, { ...limit, now: deps.businessTime() }, addresses);
      if (Math.abs(nowMs - cleanedAtMs) > deps.windowsKeptMs) {
        await forgetOldWindows(tx, nowMs - deps.windowsKeptMs);
        cleanedAtMs = nowMs;
      }
      return answers;
    });

  return batcher.submit;
}
