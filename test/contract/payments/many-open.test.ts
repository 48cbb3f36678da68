/** Checkouts that nobody means to pay: how many a stranger may open, and that paid ones do not wait behind them. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pointsSaleAbi } from '../../../src/chain/contracts/abis.ts';
import { settings } from '../../../src/compose/config.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { bearer, open, shop } from '../kit.ts';
import { type PaymentService, startPaymentService } from './kit.ts';

const { openCheckouts, looksPerSecond, unknownAsksPerMinute, lifetimeMs } = settings.payments;
const ANONYMOUS = 10_000;
const PAID = 100;

describe.each(databaseKinds)('open checkouts (on $kind)', ({ open: openDatabase }) => {
  let service: PaymentService;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let dataDir: string;
  beforeAll(async () => {
    database = await openDatabase();
    dataDir = await mkdtemp(join(tmpdir(), 'rewards-open-'));
    const { databaseUrl } = database;
    service = await startPaymentService({
      databaseUrl,
      dataDir,
      ephemeral: false,
      addressRequestsMax: 5_000,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Runs a statement in the ledger beside the service, on whichever database it has. */
  async function inLedger(statement: string, rows: unknown[][]): Promise<void> {
    const { databaseUrl } = database;
    if (databaseUrl === undefined) {
      const file = new SqliteDatabase(join(dataDir, 'ledger.sqlite'), { timeout: 10_000 });
      const prepared = file.prepare(statement.replaceAll(/\$\d+/g, '?'));
      file.transaction(() => {
        for (const row of rows) prepared.run(...row);
      })();
      return void file.close();
    }
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('begin');
    for (const row of rows) await client.query(statement, row);
    await client.query('commit');
    await client.end();
  }

  test('an address without the key has twenty at most; the brand’s own server is not counted', async () => {
    const address = { 'x-forwarded-for': '198.51.100.7' };
    for (let count = 0; count < openCheckouts.ofAddress; count += 1)
      expect((await service.checkout({}, address)).status).toBe(200);
    const asked = service.asked().length;
    const refused = await service.checkout({}, address);
    expect(refused).toMatchObject({
      status: 429,
      body: { details: { reason: 'too_many_open_checkouts', limit: openCheckouts.ofAddress } },
    });
    expect(service.asked()).toHaveLength(asked);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(lifetimeMs / 1_000);
    // Another brand's key is none.
    expect((await service.checkout({}, { ...address, ...bearer(open) })).status).toBe(429);
    expect((await service.checkout({}, { ...address, ...bearer(shop) })).status).toBe(200);
    expect((await service.checkout({}, { 'x-forwarded-for': '198.51.100.8' })).status).toBe(200);
    // An IPv6 customer has a whole /64.
    for (let count = 0; count < openCheckouts.ofAddress; count += 1)
      expect((await service.checkout({}, { 'x-forwarded-for': `2001:db8::${count}` })).status).toBe(200);
    expect((await service.checkout({}, { 'x-forwarded-for': '2001:db8::ffff' })).status).toBe(429);
  });

  test('what an address has paid or let expire makes room', async () => {
    const address = { 'x-forwarded-for': '198.51.100.9' };
    const sessions: string[] = [];
    for (let count = 0; count < openCheckouts.ofAddress; count += 1)
      sessions.push((await service.checkout({}, address)).body.sessionId);
    expect((await service.checkout({}, address)).status).toBe(429);
    await service.pay(sessions[0] ?? '');
    expect((await service.mint(sessions[0])).status).toBe(200);
    expect((await service.checkout({}, address)).status).toBe(200);
    expect((await service.checkout({}, address)).status).toBe(429);
    await service.advance('24h');
    expect((await service.checkout({}, address)).status).toBe(200);
  });

  test('ids that strangers guess cost the processor a few questions, though a checkout waits for its session', async () => {
    service.proxy.fail(({ method }) => (method === 'POST' ? 'lost-request' : undefined));
    expect((await service.checkout({}, bearer(shop))).status).toBe(500);
    service.proxy.fail(undefined);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, guess) => service.mint(`cs_test_guess_${guess}`)),
    );
    for (const { status } of answers) expect(status).toBe(400);
    const guesses = service.asked().filter(({ path }) => path.includes('guess'));
    expect(guesses.length).toBeLessThanOrEqual(unknownAsksPerMinute);
  });

  test('a hundred paid sessions whose events were lost are minted within two minutes beside ten thousand that nobody pays', async () => {
    const paid: string[] = [];
    for (let count = 0; count < PAID; count += 1) {
      const { sessionId } = (await service.checkout({}, bearer(shop))).body;
      await service.pay(sessionId);
      paid.push(sessionId);
    }
    const nowMs = Date.parse((await service.request(`${service.ready.urls.control}/clock`)).body.now);
    const columns = {
      id: '',
      brand_id: open.brandId,
      wallet: open.brandId,
      amount_cents: 50,
      currency: 'usd',
      rwt_amount: 500,
      mint_to: 'wallet',
      processor_session_id: '',
      url: 'https://pay.example/',
      livemode: database.databaseUrl === undefined ? 0 : false,
      payment_status: 'unpaid',
      state: 'open',
      // Overdue for longer than those that are paid.
      created_at: nowMs - 60_000,
      expires_at: nowMs + lifetimeMs,
      next_look_at: nowMs - 1,
      refunded_cents: 0,
      opened_from: '',
    };
    const names = Object.keys(columns);
    const places = names.map((_, place) => `$${place + 1}`);
    service.proxy.slow(200);
    await inLedger(
      `insert into checkout_sessions (${names.join(', ')}) values (${places.join(', ')})`,
      Array.from({ length: ANONYMOUS }, (_, index) => {
        const own = { id: `planted-${index}`, processor_session_id: `cs_test_planted_${index}` };
        return Object.values({ ...columns, ...own, opened_from: `203.0.113.${index % 250}` });
      }),
    );
    const from = service.proxy.calls.length;
    const { pointsSale } = service.ready.contracts;
    const mintsNow = async () => {
      const contract = { address: pointsSale as `0x${string}`, abi: pointsSaleAbi, fromBlock: 0n };
      return (await service.chain.getContractEvents(contract)).length;
    };
    const before = await mintsNow();
    await service.advance('2m');
    await expect.poll(mintsNow, { timeout: 100_000, interval: 500 }).toBe(before + PAID);
    for (const sessionId of paid) expect((await service.mint(sessionId)).body.alreadyProcessed).toBe(true);
    const asked = service.proxy.calls.slice(from).map(({ path }) => path);
    const last = asked.findLastIndex((path) => paid.some((id) => path.endsWith(id)));
    const looks = asked.slice(0, last).filter((path) => path.startsWith('/v1/checkout/sessions/'));
    // At the processor's rate these are far less than two minutes, though ten thousand were due before them.
    expect(looks.length / looksPerSecond).toBeLessThan(120);
    expect(looks.length).toBeLessThan(4 * PAID);
  }, 240_000);
});
