/** Requests counted by address, and the health of what the service depends on. */
import { gte, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAddressGate } from '../../src/actions/admit-address.ts';
import { reportHealth } from '../../src/actions/report-health.ts';
import { readFact } from '../../src/ledger/facts.ts';
import { rateWindows } from '../../src/ledger/schema/limits.ts';
import { openLedger, START_MS, type TestLedger } from './ledger.ts';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const HOUR = 3_600_000;

describe('requests of an address', () => {
  const gate = (batchMax = 100, change = {}) =>
    createAddressGate({
      ...ledger,
      ...change,
      limit: { scope: 'relay address', limit: 2, windowMs: HOUR },
      batchMax,
      triesMax: 3,
      windowsKeptMs: 24 * HOUR,
    });

  test('are admitted up to the limit, each answer for its own address', async () => {
    const admit = gate();
    const answers = await Promise.all(['b', 'a', 'b', 'c', 'b'].map((address) => admit(address)));
    const resetAtMs = START_MS + HOUR;
    const of = (taken: boolean, remaining: number) => ({ taken, limit: 2, remaining, resetAtMs });
    expect(answers).toEqual([of(true, 1), of(true, 1), of(true, 0), of(true, 1), of(false, 0)]);
    expect(await Promise.all(['a', 'a', 'c'].map((address) => gate(1)(address)))).toEqual([
      of(true, 0),
      of(false, 0),
      of(true, 0),
    ]);
  });

  test('are counted in the order of their addresses, so that two processes cannot lock each other out', async () => {
    const admit = gate();
    await Promise.all(['y', 'z', 'w', 'x'].map((address) => admit(address)));
    const written = ledger.database.db.select().from(rateWindows).where(gte(rateWindows.subject, 'w'));
    expect((await written.orderBy(sql`rowid`)).map(({ subject }) => subject)).toEqual(['w', 'x', 'y', 'z']);
    await ledger.database.db.delete(rateWindows).where(gte(rateWindows.subject, 'w'));
  });

  test('are forgotten a day after, by the first request that comes later than that', async () => {
    const admit = gate();
    const subjects = async () =>
      new Set((await ledger.database.db.select().from(rateWindows)).map(({ subject }) => subject));
    ledger.clock.advance(24 * HOUR);
    await admit('d');
    expect(await subjects()).toEqual(new Set(['a', 'b', 'c', 'd']));
    ledger.clock.advance(1);
    await admit('e');
    expect(await subjects()).toEqual(new Set(['d', 'e']));
    ledger.clock.advance(24 * HOUR);
    await admit('f');
    expect(await subjects()).toEqual(new Set(['d', 'e', 'f']));
    ledger.clock.set(START_MS - 48 * HOUR);
    await admit('g');
    expect(await subjects()).toEqual(new Set(['d', 'e', 'f', 'g']));
  });
});

describe('health', () => {
  const works = {
    block: async (which: unknown) => (which === 'latest' ? { number: 1 } : undefined) as never,
  };
  const fails = { block: () => Promise.reject(new Error('away')) };
  const health = (of: { chain?: typeof works; identityReady?: () => Promise<boolean>; closed?: boolean }) => {
    const { chain = works, identityReady } = of;
    return reportHealth({ ...ledger, chain, identityReady });
  };
  const connected = { database: 'connected', blockchain: 'connected', idp: 'none' };

  test('is that of the database, the chain, and the identity provider where there is one', async () => {
    expect(await health({})).toEqual({ healthy: true, services: connected });
    expect(await health({ identityReady: async () => true })).toEqual({
      healthy: true,
      services: { ...connected, idp: 'connected' },
    });
    expect(await health({ identityReady: async () => false })).toEqual({
      healthy: false,
      services: { ...connected, idp: 'disconnected' },
    });
    expect(await health({ chain: fails })).toEqual({
      healthy: false,
      services: { ...connected, blockchain: 'disconnected' },
    });
    expect(await readFact(ledger.database.db, 'probe')).toEqual({ atMs: ledger.clock.now() });
  });

  test('is bad when the ledger cannot be written', async () => {
    const other = await openLedger();
    await other.database.script('drop table facts');
    expect(await reportHealth({ ...other, chain: works, identityReady: undefined })).toEqual({
      healthy: false,
      services: { ...connected, database: 'disconnected' },
    });
    await other.close();
  });
});
