/**
 * A process that only delivers webhooks, for tests that kill it: `<database> [{point, owner, leaseMs, skewMs}]`. `point`:
 * where it dies, `<crash point>:<n>`; `skewMs`: how far its machine's clock is off, or between which two it jumps.
 */
import { settings } from '../../src/compose/config.ts';
import { localAddresses } from '../../src/dns/system.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { steadyClock, systemClock } from '../../src/lib/clock.ts';
import { crashAt, neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createWebhooks } from '../../src/webhooks/run-webhooks.ts';

/** A clock that jumps does so this often. */
const JUMP_EVERY_MS = 150;

interface Wish {
  point?: string;
  owner?: string;
  leaseMs?: number;
  skewMs?: number[];
}

const [where = '', wish = '{}'] = process.argv.slice(2);
// Short leases, so that what a killed process held is not waited for.
const { point, owner, leaseMs = 1_000, skewMs = [0] }: Wish = JSON.parse(wish);
const machineNow = Date.now.bind(Date);
// The machine's own clock, whoever asks it; on SQLite the ledger's time is that of the machine that has the file.
Date.now = () => machineNow() + (skewMs[Math.floor(machineNow() / JUMP_EVERY_MS) % skewMs.length] ?? 0);
const database = where.startsWith('postgres:')
  ? openPostgres(where)
  : openSqlite(where, { clock: { now: machineNow } });
createWebhooks(
  {
    database,
    clock: systemClock(),
    random: secureRandom(systemClock()),
    log: silentLog,
    owner,
    realClock: steadyClock(),
    businessTime: () => database.now,
    crash: point ? crashAt(point, () => process.kill(process.pid, 'SIGKILL')) : neverCrash,
    reach: { to: 'any' },
    addressesOf: localAddresses,
    alarms: { raise: () => {}, clear: () => {} },
  },
  { ...settings.webhooks, leaseMs, pollMs: 20 },
).start();
console.log('delivering');
