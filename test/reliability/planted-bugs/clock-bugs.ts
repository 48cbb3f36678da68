/** Planted bugs of time: a process takes its machine's clock for the database's, or for one that is steady. */
import { atMs, type Database } from '../../../src/ledger/database/database.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { Fault } from '../simulation/plan.ts';
import type { Mutant } from './parts.ts';

/** A database that takes a process's time for its own. */
const onClock = (database: Database, { now }: Clock): Database => ({
  ...database,
  get now() {
    return atMs(now());
  },
});

export const clockBugs: Mutant[] = [
  {
    name: 'lease-by-own-clock',
    wire: ({ laneDatabase, clock }) => ({ laneDatabase: onClock(laneDatabase, clock) }),
  },
  {
    name: 'limits-by-own-clock',
    wire: ({ clock }) => ({ businessTime: () => atMs(clock.now()) }),
  },
  {
    name: 'keys-by-own-clock',
    wire: ({ answerDatabase, clock }) => ({ answerDatabase: onClock(answerDatabase, clock) }),
  },
  // Was so once: a process whose machine's clock was set back looked after nothing until it had caught up.
  {
    name: 'patience-by-wall-clock',
    circumstances: {
      rates: new Map<Fault, number>([
        ['clock jump', 2],
        ['pool drop', 3],
        ['lost request', 0.2],
      ]),
      events: 5,
      steps: 40,
      faultBudget: 8,
      untilFinal: true,
    },
    wire: ({ clock }) => ({ realClock: clock }),
  },
];
