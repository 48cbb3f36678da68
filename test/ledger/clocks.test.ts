/** Who may send from an account, and who may claim again, does not depend on the clock of any process. */
import { expect, test } from 'vitest';
import { createAnswerOnce } from '../../src/actions/answer-once.ts';
import { createEventSubmitter } from '../../src/actions/events/batch-events.ts';
import { createLaneLease } from '../../src/chain/lane/lease.ts';
import { saveBrand, saveEventRule } from '../../src/ledger/brands/brands.ts';
import { atMs, type Database } from '../../src/ledger/database/database.ts';
import { readWindow, takeFromWindow } from '../../src/ledger/limits/rate-windows.ts';
import { bookMovement } from '../../src/ledger/rewards/funds.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { neverCrash } from '../../src/lib/crash-points.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshHash, freshKey, onEveryDatabase } from '../kits/databases/databases.ts';
import { brandRow, ruleRow } from './brands.ts';

const DAY_MS = 86_400_000;
/** Longer than a busy machine may stand still between two statements. */
const LEASE_MS = 1_500;
/** Until such a lease has run out. */
const patience = { interval: 50, timeout: 20_000 };

onEveryDatabase(({ kit }) => {
  /** A process whose clock differs from the others' by `skew.ms`. */
  const processOf = (owner: string, address: `0x${string}`, skew: { ms: number }) => {
    const realClock = { ...systemClock(), now: () => Date.now() + skew.ms };
    const settings = { leaseMs: LEASE_MS, purpose: 'payout' as const };
    const deps = {
      database: kit().database,
      realClock,
      owner,
      log: silentLog,
      signer: { address },
      settings,
    };
    return createLaneLease(deps, () => {});
  };

  test.each([
    ['ahead', DAY_MS],
    ['behind', -DAY_MS],
  ])('a process that ends with its clock a day %s leaves the lane to the next one at once', async (_, ms) => {
    const address = freshAddress();
    expect(await processOf('a', address, { ms }).epoch()).toBe(1);
    const next = processOf('b', address, { ms: 0 });
    expect(await next.epoch()).toBeUndefined();
    await expect.poll(() => next.epoch(), patience).toBe(2);
  });

  test('a clock that is set back does not keep the owner from renewing its lease', async () => {
    const address = freshAddress();
    const skew = { ms: 0 };
    const owner = processOf('a', address, skew);
    expect(await owner.epoch()).toBe(1);
    skew.ms = -DAY_MS;
    const next = processOf('b', address, { ms: 0 });
    await expect.poll(() => next.epoch(), patience).toBe(2);
    // The owner asks, and learns that the lane is another's.
    expect(await owner.epoch()).toBeUndefined();
  });

  test('a keyed request is taken over from a process whose clock was ahead as from any other', async () => {
    const { database } = kit();
    const request = { scope: 'events', key: freshKey('clock'), body: '{}' };
    const ahead = { ...systemClock(), now: () => Date.now() + DAY_MS };
    const random = secureRandom(ahead);
    await createAnswerOnce({ database, realClock: ahead, random })(request, () =>
      Promise.reject(new Error('cut off')),
    ).catch(() => undefined);
    const tried: boolean[] = [];
    const answer = await createAnswerOnce({ database, realClock: systemClock(), random })(
      request,
      async ({ mayExist }) => {
        tried.push(mayExist);
        return { status: 200, body: '', kept: 'answer' };
      },
    );
    expect([answer, tried]).toEqual([{ status: 200, body: '' }, [true]]);
  });

  /** A process that decides events, with a clock that differs from the others' by `skewMs`. */
  const deciderOf = (database: Database, skewMs: number) => {
    const clock = { ...systemClock(), now: () => Date.now() + skewMs };
    return createEventSubmitter({
      database,
      clock,
      businessTime: () => database.now,
      crash: neverCrash,
      addressAt: (index) => `0x${(0xacc0000 + index).toString(16).padStart(40, '0')}`,
      ownHosts: [],
      ownAddresses: new Set(),
      duplicateWindowMs: 60_000,
      batchMax: 400,
      triesMax: 10,
    });
  };

  test('a replica whose clock is two minutes ahead passes no cooldown of 90 s, and no duplicate window', async () => {
    const { database, other } = kit();
    const brandId = freshAddress();
    await saveBrand(database.db, brandRow({ brandId, domains: [`${brandId}.example`] }));
    for (const [eventType, cooldownMs] of Object.entries({ cool: 90_000, free: 0 }))
      await saveEventRule(database.db, ruleRow({ brandId, eventType, cooldownMs }));
    await bookMovement(database.db, {
      id: freshKey('deposit'),
      brandId,
      kind: 'deposit',
      amount: 1_000,
      transactionHash: freshHash(),
      logIndex: 0,
      blockNumber: 1,
      createdAt: 0,
    });
    const [right, ahead] = [deciderOf(database, 0), deciderOf(other, 120_000)];
    const random = secureRandom(systemClock());
    for (const eventType of ['cool', 'free'])
      for (let user = 0; user < 10; user++) {
        const event = () => ({
          rewardId: random.uuid(),
          submission: {
            brandId,
            eventType,
            userKey: `${user}@people.example`,
            userEmail: undefined,
            userAddress: undefined,
            channel: undefined,
            skipCooldown: false,
            metadata: {},
            withBrandKey: true,
          },
        });
        const first = await right.submit(event());
        const second = await ahead.submit(event());
        expect(first).toHaveProperty('granted');
        expect(second).toMatchObject({ refusal: { code: 'duplicate' } });
        expect(Math.abs(second.nowMs - first.nowMs)).toBeLessThan(60_000);
      }
  });

  test("windows of requests go by the database's clock as well", async () => {
    const { database } = kit();
    const window = { scope: freshKey('window'), subject: 'a', limit: 1, windowMs: 60_000 };
    const taken = await takeFromWindow(database.db, { ...window, now: database.now });
    expect([taken.taken, taken.remaining]).toEqual([true, 0]);
    expect(await takeFromWindow(database.db, { ...window, now: database.now })).toMatchObject({
      taken: false,
    });
    expect(await readWindow(database.db, { ...window, now: database.now })).toMatchObject({
      remaining: 0,
      resetAtMs: taken.resetAtMs,
    });
  });

  test('a window that began further in the future than its length is over: the clock was set back', async () => {
    const { db } = kit().database;
    const window = { scope: freshKey('window'), subject: 'a', limit: 1, windowMs: 60_000 };
    const at = (now: number) => takeFromWindow(db, { ...window, now: atMs(now) });
    const NOW_MS = 1_700_000_000_000;
    expect(await at(NOW_MS + 60_001)).toMatchObject({ taken: true });
    expect(await readWindow(db, { ...window, now: atMs(NOW_MS) })).toMatchObject({ remaining: 1 });
    expect(await at(NOW_MS)).toMatchObject({ taken: true, remaining: 0, resetAtMs: NOW_MS + 60_000 });
    // At most its length in the future, it may be as it should be: the clock was set back a little.
    const near = { ...window, subject: 'b' };
    await takeFromWindow(db, { ...near, now: atMs(NOW_MS + 60_000) });
    expect(await takeFromWindow(db, { ...near, now: atMs(NOW_MS) })).toMatchObject({ taken: false });
  });
});
