/** A Postgres that goes away while `rewards start` asks it: at every message of a start, the supervisor is told to try again. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { startHere } from '../kits/service/cli.ts';
import { type ProductionKit, prepareLedger, startProductionKit } from '../kits/service/production.ts';
import { startTcpProxy, type TcpProxy } from '../reliability/processes/tcp-proxy.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let postgres: TestPostgres;
let proxy: TcpProxy;

/** One start, which ends by itself or is stopped once it is ready. */
async function startOnce(): Promise<{
  ready: boolean;
  code: number;
  error: Record<string, unknown>;
  log: string;
}> {
  const env = kit.environment(proxy.urlOf(postgres.url), { REWARDS_WORKERS: 'api,outbox' });
  const run = startHere(['start', '-o', 'json'], { env });
  const line = await Promise.race([run.nextLine(), run.ended.then(() => undefined)]);
  const ready = line !== undefined && JSON.parse(line).type === 'ready';
  if (ready) {
    proxy.cutAtMessage(undefined);
    run.signal('SIGTERM');
  }
  const code = await run.ended;
  const error = ready ? {} : JSON.parse(line ?? run.stdout()).error;
  return { ready, code, error, log: run.stderr() };
}

describe.skipIf(postgresMissing() !== undefined)('Postgres goes away', () => {
  beforeAll(async () => {
    [kit, postgres] = await Promise.all([startProductionKit(), startPostgres({ migrated: true })]);
    const database = openPostgres(postgres.url);
    await prepareLedger(database);
    await database.close();
    const { hostname: host, port } = new URL(postgres.url);
    proxy = await startTcpProxy({ host, port: Number(port) });
  });
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all([postgres?.stop(), kit?.stop()]);
  });

  test('at any message of a first start, and of one that goes on where it was broken off', async () => {
    const wrong: unknown[] = [];
    const parts = new Set<string>();
    let message = 1;
    for (; message < 400; message += 1) {
      proxy.cutAtMessage(message);
      const { ready, code, error, log } = await startOnce();
      if (ready) break;
      parts.add(String(error.message));
      const isTold = code === 75 && error.code === 'E_START_DATABASE' && error.retryable === true;
      const hasStack = /\n\s+at /.test(`${error.message}${log}`);
      if (!isTold || hasStack) wrong.push({ message, code, error, log });
    }
    expect(wrong).toEqual([]);
    // Many statements, in several parts of the start, each of which is named.
    expect(message).toBeGreaterThan(20);
    for (const part of ['the next sequence', 'its sending accounts', 'the blocks that it has read'])
      expect([...parts].join('\n')).toContain(part);
    proxy.cutAtMessage(undefined);
    expect((await startOnce()).ready).toBe(true);
  });
});
