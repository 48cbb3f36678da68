/** Production while it runs: traffic, roles, replicas, figures, and the way it stops. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openPostgres } from '../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../src/ledger/database/sqlite.ts';
import { postgresMissing, startPostgres, type TestPostgres } from '../kits/databases/databases.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  prepareLedger,
  productionOf,
  type Started,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';

// Each starts several processes of the real program.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kit: ProductionKit;

beforeAll(async () => {
  kit = await startProductionKit();
});
afterAll(() => kit.stop());
const { start: run, refused, agrees } = productionOf(() => kit);

describe('on SQLite', () => {
  let service: Started;
  let ledger: string;
  beforeAll(async () => {
    ledger = await sqliteLedger(kit.folder, 'running');
  });

  describe('with nothing but what has to be set', () => {
    beforeAll(async () => {
      service = await startProduction(kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true' }));
    });
    afterAll(async () => {
      if (service.child.exitCode === null) await service.stop('SIGKILL');
    });

    test('plain HTTP is refused, a proxy that ends HTTPS is believed', async () => {
      expect((await service.api('/health')).status).toBe(403);
      expect((await service.api('/health', { headers: { 'x-forwarded-proto': 'https' } })).status).toBe(200);
      const https = { headers: { 'x-forwarded-proto': 'https' } };
      // Users cannot log in here, so nothing is connected, and nothing is missing.
      expect((await service.api('/health', https)).body).toMatchObject({
        status: 'healthy',
        services: { database: 'connected', blockchain: 'connected', idp: 'none' },
      });
      expect((await service.api('/diagnostic', https)).body).toMatchObject({
        status: 'healthy',
        idp: 'none',
      });
    });

    test('there is no control API', async () => {
      expect((await service.api('/../_rewards/clock')).status).toBe(403);
      const control = await fetch(`${service.ready.urls.events}/_rewards/clock`, {
        headers: { 'x-forwarded-proto': 'https' },
      });
      expect(control.status).toBe(404);
    });

    test('two processes cannot share a SQLite ledger', async () => {
      const { code, error } = await refused(ledger);
      expect([code, error.code]).toEqual([5, 'E_DATA_IN_USE']);
    });

    test('it pays, counts, says how it is, and stops cleanly', async () => {
      expect(service.ready.workers).toEqual(['api', 'outbox']);
      expect((await service.admin('/livez')).status).toBe(200);
      expect(await service.admin('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
      expect((await service.admin('/nothing')).status).toBe(404);

      const { status, body } = await service.event({ brandId, userEmail: 'carol@shop.example' });
      expect(status).toBe(200);
      expect(body.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
      const again = await service.event({ brandId, userEmail: 'carol@shop.example' });
      expect(again.status).toBe(409);

      await until("the payment's receipt", async () => {
        const receipt = await kit.rpc('eth_getTransactionReceipt', [body.transactionHash]);
        return (receipt as { status: string } | null)?.status === '0x1';
      });
      expect(await service.metric('rewards_decisions_total{code="rewarded"}')).toBe(1);
      expect(await service.metric('rewards_decisions_total{code="duplicate"}')).toBe(1);
      expect(await service.metric('rewards_send_outcomes_total{outcome="accepted"}')).toBe(1);
      const route = 'method="POST",route="/rewards-api/manual-event"';
      expect(await service.metric(`rewards_http_requests_total{${route},status="200"}`)).toBe(1);
      expect(await service.metric('rewards_rpc_requests_total{node="1",outcome="answered"}')).toBeGreaterThan(
        5,
      );
      // Counted now and then.
      await until('nothing to wait', async () => (await service.metric('rewards_waiting')) === 0);
      expect(await service.metric('rewards_alarms{code="foreign_nonce"}')).toBe(0);
      expect(await service.metric('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);

      expect(await service.stop()).toEqual({ code: 0, signal: null });
      const messages = service.logLines().map(({ message }) => message);
      expect(messages).toContain('ready');
      expect(messages.at(-1)).toBe('stopped');
      for (const secret of [...Object.values(kit.keys), kit.walletsXpub, kit.anvil.url, 'carol', 'sqlite:'])
        expect(service.log()).not.toContain(secret);
    });
  });

  test('plain HTTP is refused, whoever says otherwise from outside', async () => {
    service = await run(ledger, { REWARDS_TRUST_PROXY: '10.0.0.0/8' });
    expect((await service.api('/health')).status).toBe(403);
    const lied = await service.event({ brandId, userEmail: 'x@shop.example' });
    expect(lied.status).toBe(403);
    await service.stop();
  });

  test('the ledger remembers its chain and its contracts', async () => {
    const database = openSqlite(ledger.slice('sqlite:'.length));
    const { readFact } = await import('../../src/ledger/facts.ts');
    const facts = await readFact(database.db, 'chain');
    await database.close();
    expect(facts).toMatchObject({ chainId: 4242, contracts: { escrow: kit.contracts.escrow } });
  });

  test('a new ledger beside an escrow that is in use is refused', async () => {
    const empty = await sqliteLedger(kit.folder, 'empty');
    const { code, error } = await refused(empty);
    expect([code, error.code]).toEqual([5, 'E_PROD_LEDGER_BEHIND']);
    expect(error.message).toContain('sequence 0');
  });

  test('a taken port is said, and nothing stays behind: the next start succeeds', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const port = String((holder.address() as AddressInfo).port);
    const { code, error } = await refused(ledger, { REWARDS_PORT: port }, []);
    const admin = await refused(ledger, { REWARDS_ADMIN_PORT: port }, []);
    holder.close();
    expect(admin.error).toMatchObject({
      code: 'E_PORT_TAKEN',
      hint: expect.stringContaining('--admin-port N'),
    });
    expect([code, error.code]).toEqual([5, 'E_PORT_TAKEN']);
    expect(error.hint).toContain('--port N');
  });

  test('SIGTERM: out of traffic at once, requests under way are finished', async () => {
    // No blocks and no room in flight: the second event waits for a transaction until blocks come.
    service = await run(ledger, { REWARDS_IN_FLIGHT_MAX: '1', REWARDS_DRAIN_TIMEOUT: '10m' });
    await kit.rpc('evm_setAutomine', [false]);
    await service.event({ brandId, userEmail: 'first@shop.example' });
    const waiting = service.event({ brandId, userEmail: 'second@shop.example' });
    await until('the second event to wait', async () => (await service.metric('rewards_waiting')) === 1);
    service.child.kill('SIGTERM');
    await until('readyz to say so', async () => (await service.admin('/readyz')).status === 503);
    const { status, body } = await service.admin('/readyz');
    expect([status, body.reasons]).toEqual([503, ['stopping']]);
    await expect(service.event({ brandId, userEmail: 'late@shop.example' })).rejects.toThrow();
    // Its port is free for the next process, while the request under way is finished.
    const { port, hostname } = new URL(service.ready.urls.events ?? '');
    const next = createServer().listen(Number(port), hostname);
    await once(next, 'listening');
    next.close();
    await kit.rpc('evm_setAutomine', [true]);
    await kit.rpc('evm_mine', []);
    expect((await waiting).status).toBe(200);
    expect(await service.ended()).toEqual({ code: 0, signal: null });
  });

  test('readyz says which dependency is away, livez does not mind', async () => {
    const change = { REWARDS_RPC_URL: `${kit.anvil.url},${kit.anvil.url}/?2` };
    service = await run(ledger, change);
    process.kill(kit.anvil.pid, 'SIGSTOP');
    await until('readyz to notice', async () => (await service.admin('/readyz')).status === 503);
    const { body } = await service.admin('/readyz');
    process.kill(kit.anvil.pid, 'SIGCONT');
    expect(body.reasons).toEqual(['no chain node answers']);
    expect((await service.admin('/livez')).status).toBe(200);
    await until('readyz to be well again', async () => (await service.admin('/readyz')).status === 200);
    await service.stop();
  });

  test('ledger and chain are compared on a schedule and soon after a start, and a difference raises an alarm', async () => {
    service = await run(ledger, { REWARDS_VERIFY_EVERY: '200ms' });
    const comparedAt = () => service.metric('rewards_verify_timestamp_seconds');
    await until('the first comparison', async () => ((await comparedAt()) ?? 0) > 0);
    const first = await comparedAt();
    await until('the next comparison', async () => (await comparedAt()) !== first);
    expect(await service.metric('rewards_verify_differences')).toBe(0);
    await service.stop();

    // A movement in the ledger that the chain does not have.
    const database = openSqlite(ledger.slice('sqlite:'.length));
    const { movements } = await import('../../src/ledger/schema/rewards.ts');
    const hash: `0x${string}` = `0x${'aa'.repeat(32)}`;
    const movement = { id: 'planted', brandId, kind: 'withdrawal' as const, amount: 3, createdAt: 0 };
    await database.db
      .insert(movements)
      .values({ ...movement, transactionHash: hash, logIndex: 0, blockNumber: Number(kit.contracts.block) });
    await database.close();
    // Found soon after a start, long before the first period is over.
    service = await run(ledger, { REWARDS_VERIFY_EVERY: '1h', REWARDS_VERIFY_AFTER: '0s' });
    await until(
      'the difference to be found',
      async () => (await service.metric('rewards_verify_differences')) === 3,
    );
    expect(service.logLines().some(({ alarm }) => alarm === 'ledger_differs')).toBe(true);
    expect(service.logLines().some(({ difference }) => difference === 'movement_without_log')).toBe(true);
    await service.stop();

    const env = kit.environment(ledger, { REWARDS_ALLOW_SQLITE: 'true' });
    const { envelope, code } = await rewardsJson(['verify'], { env });
    expect(code).toBe(1);
    expect(envelope.data).toMatchObject({ ok: false });
    expect(envelope.data.differences.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'brand_deposited',
      'escrow_balance',
      'movement_without_log',
    ]);
  });
});

describe.skipIf(postgresMissing() !== undefined)('on Postgres', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  // A ledger of its own pays from an escrow of its own.
  let shared: ProductionKit;
  beforeAll(async () => {
    shared = kit;
    kit = await startProductionKit();
  });
  afterAll(async () => {
    await kit.stop();
    kit = shared;
  });

  test('several migrate at once; status says what is missing', async () => {
    const env = { REWARDS_DATABASE_URL: postgres.url };
    const before = await rewardsJson(['db', 'status'], { env });
    expect(before.code).toBe(1);
    expect(before.envelope.data.pending[0]).toBe('0001-ledger');
    const all = await Promise.all([1, 2, 3].map(() => rewards(['db', 'migrate'], { env })));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    const after = await rewardsJson(['db', 'status'], { env });
    expect(after).toMatchObject({ code: 0, envelope: { data: { pending: [], unsafe: [] } } });
    const database = openPostgres(postgres.url);
    await prepareLedger(database);
    await database.close();
  });

  test('a database that forgets is refused', async () => {
    const pg = (await import('pg')).default;
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const name = new URL(postgres.url).pathname.slice(1);
    await client.query(`alter database ${name} set synchronous_commit = off`);
    const { code, error } = await refused(postgres.url);
    await client.query(`alter database ${name} reset synchronous_commit`);
    await client.end();
    expect([code, error.code]).toEqual([5, 'E_UNSAFE_DATABASE']);
    expect(error.message).toContain('synchronous_commit=off');
  });

  test.each([
    ['database', (url: URL) => Object.assign(url, { pathname: '/nowhere', password: 'hunter2' })],
    ['role', (url: URL) => Object.assign(url, { username: 'nobody_here', password: 'hunter2' })],
  ])('a wrong %s is refused, its password not repeated', async (_what, change) => {
    const url = change(new URL(postgres.url));
    const env = kit.environment(url.href);
    const { envelope, code, stdout } = await rewardsJson(['start', '--check'], { env });
    expect([code, envelope.error.code]).toEqual([5, 'E_DATABASE_REFUSED']);
    expect(stdout).not.toContain('hunter2');
  });

  test('one process answers, another pays', async () => {
    const api = await run(postgres.url, {
      REWARDS_WORKERS: 'api',
      REWARDS_PAYOUT_KEY: undefined,
      REWARDS_MINT_KEY: undefined,
      REWARDS_RELAY_KEY: undefined,
    });
    const outbox = await run(postgres.url, { REWARDS_WORKERS: 'outbox' });
    expect(outbox.ready.urls.events).toBeUndefined();
    // The outbox reads the deposit from the chain; before that, the brand has no funds.
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, place) =>
        api.event({ brandId, userEmail: `user${place}@shop.example` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    // What an operator asks the ledger itself, beside the processes.
    const ofLedger = { env: kit.environment(postgres.url) };
    await rewards(['brand', 'set', brandId, 'spendPerHour=10000'], ofLedger);
    const { envelope } = await rewardsJson(['history', '--range', 'hour', '--brand', brandId], ofLedger);
    expect(envelope.data.body).toMatchObject({ range: 'hour', brandId, totals: { rewards: 20 } });
    await api.event({ brandId, userEmail: 'limited@shop.example' });
    expect((await rewards(['brand', 'show', brandId], ofLedger)).stdout).toMatch(
      / this hour +\d+ of 10000 RWT spent, until 20/,
    );
    expect(await api.stop()).toEqual({ code: 0, signal: null });
    expect(await outbox.stop()).toEqual({ code: 0, signal: null });
  });

  test('two replicas share the work, and when one is killed the other goes on', async () => {
    const [first, second] = await Promise.all([run(postgres.url), run(postgres.url)]);
    const send = (service: Started, from: number) =>
      Promise.all(
        Array.from({ length: 15 }, (_, place) =>
          service.event({ brandId, userEmail: `replica${from + place}@shop.example` }),
        ),
      );
    const both = (await Promise.all([send(first, 0), send(second, 100)])).flat();
    expect(both.map(({ status }) => status)).toEqual(Array(30).fill(200));
    const holder = first.logLines().some(({ message }) => message === 'this process sends for the lane now')
      ? first
      : second;
    const other = holder === first ? second : first;
    await holder.stop('SIGKILL');
    const after = await send(other, 200);
    expect(after.map(({ status }) => status)).toEqual(Array(15).fill(200));
    expect(await other.stop()).toEqual({ code: 0, signal: null });

    await kit.rpc('evm_mine', []);
    const last = await run(postgres.url, { REWARDS_WORKERS: 'outbox' });
    await until('the last block to be read', async () => (await last.metric('rewards_block_lag')) === 0);
    await last.stop();
    expect((await agrees(postgres.url)).payouts).toBeGreaterThanOrEqual(65);
  });
});
