/** What a whole run of the tests shares: the built program, and a Postgres with a migrated database to copy. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { migrate } from '../../../src/ledger/database/migrate.ts';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { binaryFolder, startPostgresServer } from '../databases/postgres-server.ts';
import { noteLeftOut } from './left-out.ts';

/** Workers get what is set in `process.env` here. At the end it says in one line what was left out. */
export default async function setup() {
  // Tests that start the real binary shall run today's source.
  execFileSync(process.execPath, ['scripts/build.js'], { stdio: 'inherit' });
  const leftOut = noteLeftOut();
  const undo: (() => Promise<unknown>)[] = [];
  if (!process.env.REWARDS_TEST_POSTGRES_URL && binaryFolder()) {
    const server = await startPostgresServer();
    process.env.REWARDS_TEST_POSTGRES_URL = server.url;
    undo.push(server.stop);
  }
  if (process.env.REWARDS_TEST_POSTGRES_URL)
    undo.push(await makeTemplate(process.env.REWARDS_TEST_POSTGRES_URL));
  return async () => {
    for (const one of undo.reverse()) await one();
    const line = leftOut();
    if (line) process.stderr.write(`${line}\n`);
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
