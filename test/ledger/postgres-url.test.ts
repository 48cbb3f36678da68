/** What an address of Postgres may say beside where it is. */
import { expect, test } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { delay } from '../../src/lib/timers.ts';
import { patient, postgresMissing, startPostgres } from '../kits/databases/databases.ts';

/** Of one process. */
const CONNECTIONS = 10;
/** Longer than a request waits for a connection where the address says nothing. */
const HELD_MS = 6_000;

test.skipIf(postgresMissing())(
  '`connect_timeout`: who comes while all connections are in use waits so long',
  async () => {
    const postgres = await startPostgres();
    const database = openPostgres(patient(postgres.url));
    const held = Array.from({ length: CONNECTIONS }, () => database.atomically(() => delay(HELD_MS)));
    expect(await database.atomically(async () => 'waited')).toBe('waited');
    await Promise.all(held);
    await database.close();
    await postgres.stop();
  },
);
