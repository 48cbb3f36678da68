/** What a whole run of the tests shares: the built program, and a Postgres with a migrated database to copy. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { migrate } from '../../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { binaryFolder, startPostgresServer } from '../databases/postgres-server.ts';
import { browserMissing } from '../site/browser.ts';

/** Workers get what is set in `process.env` here. Says in a line each what is left out. */
export default async function setup() {
  // Tests that start the real binary shall run today's source.
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const undo: (() => Promise<unknown>)[] = [];
  if (!process.env.REWARDS_TEST_POSTGRES_URL && binaryFolder()) {
    const server = await startPostgresServer();
    process.env.REWARDS_TEST_POSTGRES_URL = server.url;
    undo.push(server.stop);
  }
  // Not before the server runs: it looks for it when it is loaded.
  const { postgresMissing } = await import('../databases/databases.ts');
  const { pgbouncerMissing } = await import('../databases/pgbouncer.ts');
  for (const missing of new Set([postgresMissing(), browserMissing(), pgbouncerMissing()]))
    if (missing) process.stderr.write(`${missing}\n`);
  if (process.env.REWARDS_TEST_POSTGRES_URL)
    undo.push(await makeTemplate(process.env.REWARDS_TEST_POSTGRES_URL));
  return async () => {
    for (const one of undo.reverse()) await one();
  };
}

async function makeTemplate(serverUrl: string): Promise<() => Promise<void>> {
  const { onServer } = await import('../databases/databases.ts');
  const name = `rewards_template_${randomBytes(8).toString('hex')}`;
  await onServer(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const database = openPostgres(url.href);
  await migrate(database);
  await database.close();
  process.env.REWARDS_TEST_POSTGRES_TEMPLATE = name;
  return () => onServer(serverUrl, `drop database if exists ${name} with (force)`);
}
