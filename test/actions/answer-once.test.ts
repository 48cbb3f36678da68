/** What becomes of a request under a key when another try of it is, or was, under way. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAnswerOnce, type Effect, type TriedAnswer } from '../../src/actions/answer-once.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { beginRequest, findRequest, keepAnswer } from '../../src/ledger/limits/idempotency.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { freshKey, signal } from '../kits/databases/databases.ts';
import { openLedger, type TestLedger } from './ledger.ts';

const realClock = systemClock();
const DAY_MS = 86_400_000;
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** As a process of its own. */
const processWith = (clock: { now(): number } = realClock) =>
  createAnswerOnce({ database: ledger.database, realClock: clock as never, random: secureRandom(realClock) });
const request = (change: object = {}) => ({ scope: 'events', key: freshKey('key'), body: '{}', ...change });
const answered = { status: 200, body: 'first' };
const kept = async (): Promise<TriedAnswer> => ({ ...answered, kept: 'answer' });
const never = () => Promise.reject(new Error('this is done once'));
const known = (of: { scope: string; key: string }) => findRequest(ledger.database.db, of);

describe('while a try is under way', () => {
  test('another of the same process shares its answer, and no other body gets the key', async () => {
    const { give, given } = signal();
    const [once, answerOnce] = [request(), processWith()];
    const first = answerOnce(once, async () => {
      await given;
      return kept();
    });
    const second = answerOnce(once, never);
    expect(await answerOnce({ ...once, body: '{ }' }, never)).toEqual({ code: 'idempotency_key_reused' });
    // Another scope, or another key, is another request.
    for (const other of [{ ...once, scope: 'bulk' }, request()])
      expect(await answerOnce(other, kept)).toEqual(answered);
    give();
    expect(await Promise.all([first, second])).toEqual([answered, answered]);
    expect(await answerOnce({ ...once, body: '{ }' }, never)).toEqual({ code: 'idempotency_key_reused' });
  });

  test('and once it came to nothing, the same process tries again', async () => {
    const [once, answerOnce] = [request(), processWith()];
    expect(await answerOnce(once, async () => ({ status: 429, body: '', kept: 'nothing' }))).toMatchObject({
      status: 429,
    });
    expect(await answerOnce(once, kept)).toEqual(answered);
  });

  test('another process waits for its answer', async () => {
    const { give, given } = signal();
    const { give: begun, given: hasBegun } = signal();
    const once = request();
    const first = processWith()(once, async () => {
      begun();
      await given;
      return kept();
    });
    await hasBegun;
    const second = processWith()(once, never);
    expect(await processWith()({ ...once, body: 'x' }, never)).toEqual({ code: 'idempotency_key_reused' });
    setTimeout(give, 60);
    expect(await first).toEqual(answered);
    expect(await second).toEqual({ ...answered, headers: {} });
  });

  test('another process is the first when that came to nothing', async () => {
    const { give, given } = signal();
    const { give: begun, given: hasBegun } = signal();
    const once = request();
    const first = processWith()(once, async () => {
      begun();
      await given;
      return { status: 429, body: 'later', kept: 'nothing' };
    });
    await hasBegun;
    const second = processWith()(once, kept);
    setTimeout(give, 60);
    expect(await first).toEqual({ status: 429, body: 'later' });
    expect(await second).toEqual(answered);
  });

  test('another process gives up in the end, and not before', async () => {
    const once = request();
    const { give, given } = signal();
    const first = processWith()(once, async () => {
      await given;
      return kept();
    });
    // Each look at this clock is 10 s after the last.
    let looks = 0;
    const hurried = { now: () => realClock.now() + 10_000 * looks++ };
    expect(await processWith(hurried)(once, never)).toEqual({ code: 'request_in_progress' });
    expect(looks).toBe(5);
    give();
    await first;
  });
});

test('a claim is renewed while its try works, and let go by its newest term', async () => {
  const once = request();
  const { give, given } = signal();
  const { give: begin, given: begun } = signal();
  const cutOff = processWith()(once, async () => {
    begin();
    await given;
    throw new Error('cut off');
  });
  await begun;
  const heldUntil = async () => (await known(once))?.busyUntil ?? 0;
  // The second renewal is one of what the first made.
  for (let renewals = 0; renewals < 2; renewals++) {
    const before = await heldUntil();
    await expect.poll(heldUntil, { timeout: 20_000 }).toBeGreaterThan(before);
  }
  give();
  await expect(cutOff).rejects.toThrow('cut off');
  expect(await heldUntil()).toBe(0);
});

describe('a try that was cut off', () => {
  const cutOff = async (change: object = {}) => {
    const once = request();
    await expect(processWith()(once, () => Promise.reject(new Error('cut off')))).rejects.toThrow('cut off');
    return { ...once, ...change };
  };

  test('is followed at once by another, which knows the id that its effect may have', async () => {
    const once = await cutOff();
    const before = await known(once);
    const effects: Pick<Effect, 'id' | 'mayExist'>[] = [];
    const tried = await processWith()(once, async ({ id, mayExist }) => {
      effects.push({ id, mayExist });
      return kept();
    });
    expect(tried).toEqual(answered);
    expect(effects).toEqual([{ id: before?.effectId, mayExist: true }]);
  });

  test('and whose claim still holds is waited for until it ends', async () => {
    const once = request();
    const { scope, key } = once;
    const requestDigest = (await known(await cutOff()))?.requestDigest ?? '';
    const startedMs = realClock.now();
    const now = atMs(startedMs);
    await beginRequest(ledger.database.db, {
      scope,
      key,
      requestDigest,
      effectId: 'earlier',
      now,
      forMs: 100,
    });
    expect(
      await processWith()(once, async ({ id, mayExist }) => ({
        ...(await kept()),
        body: `${id} ${mayExist}`,
      })),
    ).toEqual({
      ...answered,
      body: 'earlier true',
    });
    expect(realClock.now()).toBeGreaterThanOrEqual(startedMs + 100);
  });
});

describe('what is kept', () => {
  test('is the answer of the try that took over, where this one comes too late', async () => {
    const once = request();
    const late = await processWith()(once, async () => {
      await keepAnswer(ledger.database.db, { ...once, status: 201, headers: { 'x-a': '1' }, body: 'other' });
      return kept();
    });
    expect(late).toEqual({ status: 201, headers: { 'x-a': '1' }, body: 'other' });
  });

  test('is free for another body only where nothing can have happened', async () => {
    const of = async (outcome: TriedAnswer['kept'], tries: number) => {
      const once = request();
      for (let n = 0; n < tries; n++)
        await processWith()(once, async () => ({ status: 409, body: '', kept: outcome }));
      return (await known(once)) !== undefined;
    };
    expect([await of('nothing', 1), await of('nothing', 2), await of('id', 1)]).toEqual([false, false, true]);
    const once = request();
    await processWith()(once, async () => ({ status: 500, body: '', kept: 'id' }));
    await processWith()(once, async () => ({ status: 409, body: '', kept: 'nothing' }));
    expect(await known(once)).toBeDefined();
  });

  test('is forgotten after a day, with the next request', async () => {
    const [old, young] = [request(), request()];
    for (const [one, ageMs] of [[old, DAY_MS + 60_000] as const, [young, DAY_MS - 60_000] as const]) {
      await processWith()(one, kept);
      const { key } = one;
      await ledger.database.script(
        `update idempotency_keys set created_at = ${realClock.now() - ageMs} where key = '${key}'`,
      );
    }
    await processWith()(request(), kept);
    expect([await known(old), (await known(young))?.status]).toEqual([undefined, 200]);
  });
});
