/** `rewards start` behind PgBouncer: limits are exact over two replicas, and a pooler that takes a protection away is refused. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { pgbouncerMissing, startPgbouncer } from '../kits/databases/pgbouncer.ts';
import { rewardsJson } from '../kits/service/cli.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  productionOf,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** A pooler that answers some statements itself: in place of those that begin with `word` the server gets one that does nothing. */
async function startSwallowing(
  databaseUrl: string,
  word: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const onward = connect(Number(port), hostname);
    for (const socket of [client, onward]) {
      sockets.add(socket.on('error', () => {}));
      socket.on('close', () => [client, onward].map((one) => one.destroy()));
    }
    // Of the same length, since lengths stand before texts.
    const nothing = `${'select'.padEnd(word.length)}`;
    client.on('data', (data) => onward.write(data.toString('latin1').replaceAll(word, nothing), 'latin1'));
    onward.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = Object.assign(new URL(databaseUrl), {
    hostname: '127.0.0.1',
    port: String((server.address() as AddressInfo).port),
  });
  return {
    url: url.href,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.skipIf(pgbouncerMissing())('behind PgBouncer', () => {
  let kit: ProductionKit;
  let postgres: TestPostgres;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    kit = await startProductionKit();
    postgres = await startPostgres();
    const database = openPostgres(postgres.url);
    await prepareLedger(database);
    await database.close();
  });
  afterAll(async () => {
    await postgres.stop();
    await kit.stop();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  const { start, refused, agrees } = productionOf(() => kit);
  const pooler = async (settings: Parameters<typeof startPgbouncer>[1], url = postgres.url) => {
    const started = await startPgbouncer(url, settings);
    stops.push(started.stop);
    return started.url;
  };
  const rows = async (text: string) => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const { rows: found } = await client.query(text);
    await client.end();
    return found;
  };

  test.each([
    ['session', { REWARDS_DATABASE_POOLER: 'session' }],
    ['transaction', { REWARDS_DATABASE_POOLER: 'transaction' }],
  ] as const)(
    'in %s mode: the checks pass, and two replicas give exactly what a limit allows',
    async (pool_mode, change) => {
      const url = await pooler({ pool_mode, default_pool_size: 30 });
      expect((await refused(url, change)).error).toBeUndefined();
      const eventType = `limited_${pool_mode}`;
      const most = 7;
      await rows(`insert into event_rules (brand_id, event_type, position, active, reward_amount, max_claims, max_total_claims, cooldown_ms, detail)
      select brand_id, '${eventType}', 1, active, reward_amount, max_claims, ${most}, cooldown_ms, replace(detail::text, 'form_submit', '${eventType}')::jsonb
      from event_rules where event_type = 'form_submit'`);
      const [one, two] = [await start(url, change), await start(url, change)];
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          (n % 2 ? one : two).event({ brandId, eventType, userEmail: `${pool_mode}${n}@shop.example` }),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(most);
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect([one.log(), two.log()].join()).not.toMatch(/prepared statement/);
      for (const process of [one, two]) expect(await process.stop()).toEqual({ code: 0, signal: null });
      expect(await rows(`select count(*)::int as n from rewards where event_type = '${eventType}'`)).toEqual([
        { n: most },
      ]);
      await agrees(url, change);
    },
  );

  test('a pooler that shares connections is refused unless the settings say so', async () => {
    const url = await pooler({ pool_mode: 'transaction' });
    const { code, error } = await refused(url);
    expect([code, error.code]).toEqual([5, 'E_DATABASE_POOLER']);
    expect(error.message).toContain('REWARDS_DATABASE_POOLER is none');
    expect(error.hint).toContain('REWARDS_DATABASE_POOLER=transaction');
  });

  test('a pooler that shares each statement is refused with its reason', async () => {
    const url = await pooler({ pool_mode: 'statement' });
    const { code, error } = await refused(url, { REWARDS_DATABASE_POOLER: 'transaction' });
    expect([code, error.code]).toEqual([5, 'E_DATABASE_REFUSED']);
    expect(error.message).toMatch(/statement pooling mode/);
    expect(error.hint).toContain('pool_mode = transaction');
  });

  test('what a pooler says is told: a parameter that it does not take, a user, a database, no room', async () => {
    const url = await pooler({ pool_mode: 'session' });
    const parameter = await refused(`${url}?options=-c%20jit%3Doff`);
    expect([parameter.code, parameter.error.code]).toEqual([5, 'E_DATABASE_REFUSED']);
    expect(parameter.error.message).toMatch(/unsupported startup parameter: options/);
    expect(parameter.error.hint).toContain('take options out of the address');
    const user = Object.assign(new URL(url), { username: 'nobody_here', password: 'hunter2' });
    const stranger = await refused(user.href);
    expect([stranger.code, stranger.error.code]).toEqual([5, 'E_DATABASE_REFUSED']);
    expect(JSON.stringify(stranger)).not.toContain('hunter2');
    const nowhere = await refused(Object.assign(new URL(url), { pathname: '/nowhere' }).href);
    expect([nowhere.code, nowhere.error.code]).toEqual([5, 'E_DATABASE_REFUSED']);
    expect(nowhere.error.message).toContain('nowhere');
    const full = await refused(await pooler({ pool_mode: 'session', max_client_conn: 1 }));
    expect([full.code, full.error.code]).toEqual([75, 'E_START_DATABASE']);
    expect(full.error.message).toMatch(/no more connections allowed \(max_client_conn\)/);
    expect(full.error.hint).toContain('max_client_conn');
  });

  test('a pooler that passes no SET on is refused, until the role has the limit', async () => {
    const swallowing = await startSwallowing(postgres.url, 'set lock_timeout =');
    stops.push(swallowing.stop);
    const { code, error } = await refused(swallowing.url);
    expect([code, error.code]).toEqual([5, 'E_DATABASE_UNPROTECTED']);
    expect(error.message).toMatch(/without lock_timeout=1500$/);
    expect(error.hint).toContain("alter role … set lock_timeout = '1500'");
    const { username, pathname } = new URL(postgres.url);
    await rows(`alter role ${username} in database ${pathname.slice(1)} set lock_timeout = '1500'`);
    expect((await refused(swallowing.url)).error).toBeUndefined();
    await rows(`alter role ${username} in database ${pathname.slice(1)} reset lock_timeout`);
  });

  test('commands on the ledger work in transaction mode without a setting', async () => {
    const empty = await startPostgres();
    stops.push(empty.stop);
    const url = await pooler({ pool_mode: 'transaction' }, empty.url);
    const env = kit.environment(url);
    expect(await rewardsJson(['db', 'migrate'], { env })).toMatchObject({ code: 0 });
    expect(await rewardsJson(['db', 'status'], { env })).toMatchObject({
      code: 0,
      envelope: { data: { pending: [], unsafe: [] } },
    });
  });
});
