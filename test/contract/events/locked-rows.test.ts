/** Rows that another transaction keeps locked: who waits for them, and what callers are told. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  patient,
  postgresMissing,
  startPostgres,
  type TestPostgres,
} from '../../kits/databases/databases.ts';
import { someone } from '../../kits/service/service.ts';
import { API, type ContractService, expectBothForms, open, shop, startContractService } from '../kit.ts';

describe.skipIf(postgresMissing() !== undefined)('on Postgres, in a transaction that somebody forgot', () => {
  let postgres: TestPostgres;
  let service: ContractService;
  let somebody: pg.Client;
  beforeAll(async () => {
    postgres = await startPostgres({ migrated: true });
    service = await startContractService({ databaseUrl: postgres.url });
  });
  afterAll(async () => {
    await service.stop();
    await postgres.stop();
  });
  beforeEach(async () => {
    somebody = new pg.Client({ connectionString: postgres.url });
    await somebody.connect();
    await somebody.query('begin');
  });
  afterEach(() => somebody.end());
  const send = (brand: typeof shop) => service.send(brand, { userEmail: someone() });
  const expectBusy = (answer: Awaited<ReturnType<typeof send>>) => {
    expect([answer.status, answer.body.error]).toEqual([503, 'Database busy']);
    expect(answer.headers.get('retry-after')).toBe('1');
    expectBothForms(answer);
  };

  test("a brand's row: its events are 503, those of other brands are rewarded", async () => {
    await somebody.query('select * from brand_funds where brand_id = $1 for update', [shop.brandId]);
    // Once as it is found out, and once as it is known.
    for (let turn = 0; turn < 2; turn += 1) {
      const [locked, other] = await Promise.all([send(shop), send(open)]);
      expectBusy(locked);
      expect(other.status).toBe(200);
    }

    await somebody.query('rollback');
    expect((await send(shop)).status).toBe(200);
  }, 60_000);

  test('a round is decided again without the locked brand, long before a statement gives up: other brands do not wait', async () => {
    // Of a server whose statements wait for a minute.
    const own = await startPostgres({ migrated: true });
    const waiting = await startContractService({ databaseUrl: patient(own.url) });
    const holder = new pg.Client({ connectionString: own.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select * from brand_funds where brand_id = $1 for update', [shop.brandId]);
      let lockedAnswered = 0;
      const sendLocked = () =>
        waiting.send(shop, { userEmail: someone() }).finally(() => {
          lockedAnswered += 1;
        });
      const locked = [];
      // From the second turn on it is known: another brand's round goes on beside the one that waits.
      for (let turn = 0; turn < 2; turn += 1) {
        locked.push(sendLocked());
        const others = await Promise.all(
          Array.from({ length: 5 }, () => waiting.send(open, { userEmail: someone() })),
        );
        expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
        expect(lockedAnswered).toBe(0);
      }
      await holder.query('rollback');
      expect((await Promise.all(locked)).map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      await holder.end();
      await waiting.stop();
      await own.stop();
    }
  }, 60_000);

  test('a table that is read: 503 with the moment to try again, and no internal error', async () => {
    await somebody.query('lock table event_rules in access exclusive mode');
    expectBusy(await service.request(`${API}/event-config?brandId=${shop.brandId}`));
    await somebody.query('rollback');
    expect((await service.request(`${API}/event-config?brandId=${shop.brandId}`)).status).toBe(200);
  }, 60_000);

  test('a statement that takes longer than the server allows: the same', async () => {
    const name = new URL(postgres.url).pathname.slice(1);
    await somebody.query('rollback');
    await somebody.query(`alter database ${name} set statement_timeout = 300`);
    // The service's new connections have it.
    await somebody.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'rewards' and datname = current_database()`,
    );
    const config = () => service.request(`${API}/event-config?brandId=${shop.brandId}`);
    await expect.poll(async () => (await config()).status, { timeout: 20_000 }).toBe(200);
    await somebody.query('begin');
    await somebody.query('lock table event_rules in access exclusive mode');
    expectBusy(await config());
  }, 60_000);
});
