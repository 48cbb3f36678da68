/** Ends the alarm of a skipped reward once the reward has given its claim back: there is nothing left to do about it. */
import type { Database } from '../../ledger/database/database.ts';
import { findBySequences } from '../../ledger/rewards/rewards.ts';
import type { Alarms } from '../alarms.ts';

/** Alarms looked after at once; the others follow with the next block. */
const AT_ONCE = 500;

/** The ledger is asked, since another process may have settled the reward. */
export async function endSkippedAlarms({
  database,
  alarms,
}: {
  database: Database;
  alarms: Alarms;
}): Promise<void> {
  const skipped = alarms.list().filter(({ code }) => code === 'reward_skipped');
  if (skipped.length === 0) return;
  const sequences = skipped.slice(0, AT_ONCE).map(({ about }) => Number(about));
  for (const { sequence, releasedAt } of await findBySequences(database.db, sequences))
    if (releasedAt !== null) alarms.clear('reward_skipped', String(sequence));
}
