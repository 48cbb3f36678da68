/** The control API where something breaks that it did not expect: a JSON answer, a line in the log, no secrets in either. */
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { jsonLog } from '../../../src/lib/log.ts';
import { postgresMissing, startPostgres } from '../../kits/databases/databases.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

let service: TestService | undefined;
afterEach(() => service?.stop());

const USER = 'somebody-private@people.example';
async function start(change: Parameters<typeof startTestService>[0] = {}) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = jsonLog({ level: 'warn', now: () => 0, write });
  service = await startTestService({ ...change, log });
  const { ready, control, request } = service;
  return { ready, control, lines, brands: () => request(`${ready.urls.control}/brands`) };
}

test('an unexpected error: 500, with a reason and without its text', async () => {
  const { ready, control, brands, lines } = await start();
  const ledger = new SQLite(join(ready.dataDir, 'ledger.sqlite'));
  ledger.exec('alter table brands rename to brands_away; alter table wallets rename to wallets_away');
  const answers = [await brands(), await control('/tokens', { user: USER })];
  ledger.exec('alter table brands_away rename to brands; alter table wallets_away rename to wallets');
  ledger.close();
  for (const { status, headers, body } of answers) {
    expect([status, headers.get('content-type')]).toEqual([500, 'application/json']);
    expect(body).toEqual({
      success: false,
      error: 'Internal server error',
      message: expect.stringContaining('log'),
      details: { reason: 'internal_error' },
    });
  }
  const said = lines.map((line) => JSON.parse(line)).filter(({ message }) => /control/.test(message));
  expect(said).toMatchObject([
    { level: 'error', path: '/_rewards/brands', error: 'no such table: brands' },
    { level: 'error', path: '/_rewards/tokens', error: 'no such table: wallets' },
  ]);
  for (const secret of [USER, 'somebody', ready.controlToken, 'params', 'select'])
    expect(JSON.stringify(said)).not.toContain(secret);
  expect((await brands()).status).toBe(200);
});

test.skipIf(postgresMissing())(
  'a table that somebody keeps locked: 503, and when to try again',
  async () => {
    const postgres = await startPostgres();
    const { brands } = await start({ databaseUrl: postgres.url });
    const somebody = new pg.Client({ connectionString: postgres.url });
    await somebody.connect();
    await somebody.query('begin; lock table brands in access exclusive mode');
    const { status, headers, body } = await brands();
    expect([status, body.error, body.details]).toEqual([503, 'Database busy', { reason: 'database_busy' }]);
    expect(headers.get('retry-after')).toBe('1');
    await somebody.query('rollback');
    await somebody.end();
    expect((await brands()).status).toBe(200);
    await service?.stop();
    service = undefined;
    await postgres.stop();
  },
  30_000,
);

test.skipIf(postgresMissing())('a database that is gone: 503, to be tried again', async () => {
  const postgres = await startPostgres();
  const { brands, lines } = await start({ databaseUrl: postgres.url });
  expect((await brands()).status).toBe(200);
  // Its database is dropped, and every connection with it.
  await postgres.stop();
  const { status, body } = await brands();
  expect([status, body.details]).toEqual([503, { reason: 'database_unavailable' }]);
  expect(lines.join('')).not.toContain(postgres.url);
  // It cannot give its leases back, and says so.
  await service?.stop().catch(() => undefined);
  service = undefined;
});
