/** A migrated database of a test's own, which other processes can open. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { type Kind, startPostgres } from '../kits/databases/databases.ts';

export async function withDatabase(kind: Kind, use: (where: string, database: Database) => Promise<void>) {
  const postgres = kind === 'Postgres' ? await startPostgres({ migrated: true }) : undefined;
  const dir = await mkdtemp(join(tmpdir(), 'rewards-webhooks-'));
  const where = postgres?.url ?? join(dir, 'ledger.db');
  const database = postgres ? openPostgres(where) : openSqlite(where);
  try {
    await migrate(database);
    await use(where, database);
  } finally {
    await database.close();
    await postgres?.stop();
    await rm(dir, { recursive: true, force: true });
  }
}
