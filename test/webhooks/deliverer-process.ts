/** A process that only delivers webhooks, for tests that kill it: `<database> [<crash point>:<n>]`. */
import { settings } from '../../src/compose/config.ts';
import { localAddresses } from '../../src/dns/system.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { steadyClock, systemClock } from '../../src/lib/clock.ts';
import { crashAt, neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createWebhooks } from '../../src/webhooks/run-webhooks.ts';

const [where = '', point] = process.argv.slice(2);
const database = where.startsWith('postgres:') ? openPostgres(where) : openSqlite(where);
const clock = systemClock();
createWebhooks(
  {
    ...{ database, clock, realClock: steadyClock(), random: secureRandom(clock), log: silentLog },
    businessTime: () => database.now,
    crash: point ? crashAt(point, () => process.kill(process.pid, 'SIGKILL')) : neverCrash,
    ...{ reach: { to: 'any' }, addressesOf: localAddresses },
    alarms: { raise: () => {}, clear: () => {} },
  },
  // Short leases, so that what a killed process held is not waited for.
  { ...settings.webhooks, leaseMs: 1_000, pollMs: 20 },
).start();
console.log('delivering');
