/** Compares this machine's clock with the database's, by which all replicas measure business time. */
import type { Alarms } from '../chain/alarms.ts';
import { type Database, readTime } from '../ledger/database/database.ts';
import type { Clock } from '../lib/clock.ts';
import { type Problem, problemOf } from './start-errors.ts';

type RealClock = Pick<Clock, 'now'>;

/**
 * Answers, tokens and log lines show this machine's time, and a permit may last a few seconds. Machines that keep time
 * by NTP differ by milliseconds.
 */
const DIFFERENCE_MAX_MS = 5_000;

/** How far this machine's clock is ahead of the database's, at least; negative when it is behind. */
async function clockAheadMs(database: Database, clock: RealClock): Promise<number> {
  const beforeMs = clock.now();
  const databaseMs = await readTime(database);
  const afterMs = clock.now();
  // The database read its clock somewhere in between, so that time counts as no difference.
  if (databaseMs > afterMs) return afterMs - databaseMs;
  return Math.max(0, beforeMs - databaseMs);
}

/** Whether this machine keeps the database's time. A database that does not answer is another check's problem. */
export async function checkClock(database: Database, clock: RealClock): Promise<Problem[]> {
  const aheadMs = await clockAheadMs(database, clock).catch(() => 0);
  if (Math.abs(aheadMs) <= DIFFERENCE_MAX_MS) return [];
  const side = aheadMs > 0 ? 'ahead of' : 'behind';
  const [seconds, most] = [Math.round(Math.abs(aheadMs) / 1_000), DIFFERENCE_MAX_MS / 1_000];
  const message = `this machine's clock is ${seconds} s ${side} the database's, more than ${most} s`;
  return [problemOf('E_PROD_CLOCK', { message })];
}

/** Raises an alarm while this machine does not keep the database's time. */
export async function watchClock(
  { database, alarms }: { database: Database; alarms: Alarms },
  clock: RealClock,
): Promise<void> {
  const aheadMs = await clockAheadMs(database, clock);
  const differs = Math.abs(aheadMs) > DIFFERENCE_MAX_MS;
  if (differs) alarms.raise('clock_differs', 'this machine', { aheadMs });
  else alarms.clear('clock_differs', 'this machine');
}
