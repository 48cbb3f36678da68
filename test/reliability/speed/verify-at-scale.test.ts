/**
 * Ledgers with a long past are compared with their chain while events are taken: by the service itself on SQLite, by
 * `rewards verify` beside a service on Postgres. `npm run bench -- verify` does the same with a million rewards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planHistory } from '../../../bench/verify/history.ts';
import { writeHistory } from '../../../bench/verify/ledger.ts';
import { measureVerify } from '../../../bench/verify/measure.ts';
import { startStandInNode } from '../../../bench/verify/node.ts';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { program } from '../../kits/service/cli.ts';

const REWARDS = 50_000;

test.each(databaseKinds)(
  `${REWARDS} rewards are compared in bounded memory, and no lease is lost, on $kind`,
  { timeout: 600_000 },
  async ({ open }) => {
    const { databaseUrl, stop } = await open();
    const folder = await mkdtemp(join(tmpdir(), 'rewards-verify-'));
    const file = join(folder, 'ledger.sqlite');
    const database = databaseUrl ? openPostgres(databaseUrl) : openSqlite(file);
    const history = planHistory({ rewards: REWARDS, batch: 250, headAtMs: Date.now() });
    const hashes = await writeHistory(database, history).finally(() => database.close());
    const node = await startStandInNode(history, hashes);
    try {
      const run = {
        program,
        databaseUrl: databaseUrl ?? `sqlite:${file}`,
        nodeUrl: node.url,
        say: console.log,
      };
      const measured = await measureVerify(run);
      console.log(JSON.stringify(measured));
      const { differences, leasesLost, events, peakMb } = measured;
      expect({ differences, leasesLost, failed: events.failed }).toEqual({
        differences: 0,
        leasesLost: 0,
        failed: 0,
      });
      expect(events.answered).toBeGreaterThan(0);
      expect(peakMb).toBeLessThan(400);
    } finally {
      await node.stop();
      await stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
