/** Who may send from an account does not depend on the clock of any process. */
import { expect, test } from 'vitest';
import { createAnswerOnce } from '../../src/actions/answer-once.ts';
import { createHold } from '../../src/chain/lane/hold.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { freshAddress, freshKey, onEveryDatabase } from '../kits/databases.ts';

const DAY_MS = 86_400_000;

onEveryDatabase(({ kit }) => {
  /** A process whose clock differs from the others' by `skew.ms`. */
  const processOf = (owner: string, address: `0x${string}`, skew: { ms: number }) => {
    const realClock = { ...systemClock(), now: () => Date.now() + skew.ms };
    const settings = { leaseMs: 100, purpose: 'payout' as const };
    const deps = {
      database: kit().database,
      realClock,
      owner,
      log: silentLog,
      signer: { address },
      settings,
    };
    return createHold(deps, () => {});
  };

  test.each([
    ['ahead', DAY_MS],
    ['behind', -DAY_MS],
  ])('a process that ends with its clock a day %s leaves the lane to the next one at once', async (_, ms) => {
    const address = freshAddress();
    expect(await processOf('a', address, { ms }).epoch()).toBe(1);
    const next = processOf('b', address, { ms: 0 });
    expect(await next.epoch()).toBeUndefined();
    await expect.poll(() => next.epoch(), { interval: 20 }).toBe(2);
  });

  test('a clock that is set back does not keep the owner from renewing its lease', async () => {
    const address = freshAddress();
    const skew = { ms: 0 };
    const owner = processOf('a', address, skew);
    expect(await owner.epoch()).toBe(1);
    skew.ms = -DAY_MS;
    const next = processOf('b', address, { ms: 0 });
    await expect.poll(() => next.epoch(), { interval: 20 }).toBe(2);
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
});
