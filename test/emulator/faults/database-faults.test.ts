/** What callers meet while the ledger or its disk fails on purpose, and that they are paid once: on every database. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { faultsOf } from '../../kits/service/faults.ts';
import { someone, startTestService, type TestService } from '../../kits/service/service.ts';

const UNAVAILABLE = '503 database_unavailable';

describe.each(databaseKinds)('faults of the ledger, on $kind', ({ open }) => {
  let database: TestDatabase;
  let service: TestService;
  let faults: ReturnType<typeof faultsOf>;
  beforeAll(async () => {
    database = await open();
    service = await startTestService({ databaseUrl: database.databaseUrl });
    faults = faultsOf(service);
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
  });
  afterEach(() => faults.clear());

  /** Sends an event; its status, and the reason of a refusal. */
  async function send(user: string, headers: Record<string, string> = {}) {
    const { status, body } = await service.event({ userEmail: user }, headers);
    return status === 200 ? '200' : `${status} ${body.details?.reason ?? body.error}`;
  }
  const keyOf = (user: string) => ({ 'idempotency-key': `key-${user}` });

  test('away: what needs the ledger is refused, the controls of the emulator work, and the event is taken afterwards', async () => {
    const user = someone();
    await faults.fail('database=away');
    const { status, body } = await service.event({ userEmail: user });
    expect([status, body.error, body.details.reason]).toEqual([
      503,
      'Database not configured',
      'database_unavailable',
    ]);
    expect((await service.request('/rewards-api/health')).status).toBe(503);
    await faults.agree();
    await faults.clear();
    expect(await send(user)).toBe('200');
    await faults.paidOnce(user, 100);
  });

  test.each(['database=commit-lost', 'disk=full'])(
    '%s: nothing is kept, and the event is taken when it is sent again',
    async (named) => {
      const user = someone();
      await faults.fail(named);
      expect(await send(user)).toBe(UNAVAILABLE);
      await faults.clear();
      expect(await send(user)).toBe('200');
      await faults.paidOnce(user, 100);
    },
  );

  test('answer-lost: an event that was recorded is not recorded again, with a key and without', async () => {
    const [keyed, plain] = [someone(), someone()];
    await faults.fail('database=answer-lost');
    expect(await send(keyed, keyOf(keyed))).toBe(UNAVAILABLE);
    expect(await send(plain)).toBe(UNAVAILABLE);
    await faults.clear();
    expect(await send(keyed, keyOf(keyed))).toBe('200');
    expect(await send(plain)).toBe('409 duplicate');
    for (const user of [keyed, plain]) await faults.paidOnce(user, 100);
  });

  test.each(['database=slow:200ms', 'disk=slow:200ms'])(
    '%s: events take longer, and are paid',
    async (named) => {
      const users = [someone(), someone(), someone()];
      await faults.fail(named, { times: 6 });
      const answers = await Promise.all(users.map((user) => service.event({ userEmail: user })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      for (const user of users) await faults.paidOnce(user, 100);
    },
  );

  test('a stack stops as ever while faults are set', async () => {
    const own = await open();
    const stack = await startTestService({ databaseUrl: own.databaseUrl });
    try {
      for (const named of ['database=away', 'node=away']) await faultsOf(stack).fail(named);
      expect((await stack.event({ userEmail: someone() })).status).toBe(503);
    } finally {
      await stack.stop();
      await own.stop();
    }
  });
});
