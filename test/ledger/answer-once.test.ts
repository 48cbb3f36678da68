/** What is kept of the first answer under an Idempotency-Key. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAnswerOnce, type TriedAnswer } from '../../src/actions/answer-once.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite, sqliteQueries } from '../../src/ledger/database/sqlite.ts';
import { beginRequest, findRequest, keepAnswer } from '../../src/ledger/limits/idempotency.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';

import { freshKey, onEveryDatabase, signal } from '../kits/databases.ts';

const realClock = systemClock();

onEveryDatabase(({ kit }) => {
  /** As a process that has just started. */
  const answerOnce = (
    request: { scope: string; key: string; body: string },
    perform: Parameters<ReturnType<typeof createAnswerOnce>>[1],
  ) =>
    createAnswerOnce({ database: kit().database, realClock, random: secureRandom(realClock) })(
      request,
      perform,
    );
  const kept = (answer: Omit<TriedAnswer, 'kept'>) => async () => ({ ...answer, kept: 'answer' as const });
  const request = () => ({ scope: 'events', key: freshKey('key'), body: '{}' });
  const never = () => Promise.reject(new Error('this is done once'));

  test('the first answer comes again with its status, its headers and the exact text of its body', async () => {
    const [once, answer] = [request(), { status: 429, headers: { 'retry-after': '7' }, body: '{ "a":1 }' }];
    expect(await answerOnce(once, kept(answer))).toEqual(answer);
    expect(await answerOnce(once, never)).toEqual(answer);
  });

  test('an answer without headers of its own comes again without any', async () => {
    const once = request();
    await answerOnce(once, kept({ status: 200, body: '' }));
    expect(await answerOnce(once, never)).toEqual({ status: 200, headers: {}, body: '' });
  });

  test('an answer that was kept before headers were comes again without any', async () => {
    const [once, { database }] = [request(), kit()];
    await answerOnce(once, kept({ status: 200, headers: { 'x-a': '1' }, body: 'b' }));
    await database.script(`update idempotency_keys set headers = null where key = '${once.key}'`);
    expect(await answerOnce(once, never)).toEqual({ status: 200, headers: {}, body: 'b' });
  });

  test('the answer that was kept first stays', async () => {
    const [{ scope, key }, { db }] = [request(), kit().database];
    await beginRequest(db, { scope, key, requestDigest: 'd', effectId: 'e', now: atMs(0), forMs: 0 });
    const first = { scope, key, status: 200, headers: { 'x-a': '1' }, body: 'first' };
    expect(await keepAnswer(db, first)).toBe(true);
    expect(await keepAnswer(db, { ...first, headers: {}, body: 'second' })).toBe(false);
    expect(await findRequest(db, { scope, key })).toMatchObject(first);
  });

  test('a refusal without effect leaves the key free, for another request as well', async () => {
    const once = request();
    const refused = { status: 429, headers: { 'Retry-After': '7' }, body: 'later' };
    expect(await answerOnce(once, async () => ({ ...refused, kept: 'nothing' }))).toEqual(refused);
    expect(await findRequest(kit().database.db, once)).toBeUndefined();
    const other = { ...once, body: '{"other":true}' };
    expect(await answerOnce(other, kept({ status: 200, body: 'b' }))).toEqual({ status: 200, body: 'b' });
  });

  test('what may still have its effect keeps its id: the next try looks for it, and no other body gets the key', async () => {
    const once = request();
    const ids: string[] = [];
    const late = { status: 500, body: 'late' };
    await answerOnce(once, async ({ id, mayExist }) => {
      ids.push(id);
      expect(mayExist).toBe(false);
      return { ...late, kept: 'id' };
    });
    expect(await answerOnce({ ...once, body: 'other' }, never)).toEqual({ code: 'idempotency_key_reused' });
    // A refusal of a later try says nothing about the first one, which may have been cut off.
    await answerOnce(once, async ({ id }) => {
      ids.push(id);
      return { status: 409, body: 'refused', kept: 'nothing' };
    });
    await answerOnce(once, async ({ id, mayExist }) => {
      ids.push(id);
      expect(mayExist).toBe(true);
      return { status: 200, body: 'b', kept: 'answer' };
    });
    expect(new Set(ids).size).toBe(1);
  });

  test('an effect that was undone is followed by one with another id, which later tries look for', async () => {
    const once = request();
    const ids: string[] = [];
    await answerOnce(once, async ({ id }) => {
      ids.push(id);
      return { status: 500, body: 'failed', kept: 'id' };
    });
    await answerOnce(once, async ({ renew }) => {
      ids.push(await renew());
      return { status: 500, body: 'late', kept: 'id' };
    });
    await answerOnce(once, async ({ id }) => {
      ids.push(id);
      return { status: 200, body: 'b', kept: 'answer' };
    });
    expect(ids[1]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
  });
});

describe('requests that wait for the first one', () => {
  const first = { status: 200, body: 'first', kept: 'answer' as const };
  /** A ledger that counts what it is asked. */
  async function countingLedger() {
    const counts = { statements: 0 };
    const database = openSqlite(':memory:', {
      queriesOn: (run) =>
        sqliteQueries((text, params, method) => {
          counts.statements++;
          return run(text, params, method);
        }),
    });
    await migrate(database);
    counts.statements = 0;
    return { database, counts };
  }
  afterEach(() => void vi.useRealTimers());

  test('in the same process: the ledger is asked for the first alone, and all get its answer', async () => {
    const { database, counts } = await countingLedger();
    const answerOnce = createAnswerOnce({ database, realClock, random: secureRandom(realClock) });
    const { give, given } = signal();
    let tries = 0;
    const perform = async () => {
      tries++;
      await given;
      return first;
    };
    const request = { scope: 'events', key: 'many', body: '{}' };
    const alone = answerOnce({ ...request, key: 'alone' }, perform);
    give();
    await alone;
    const ofOne = counts.statements;
    counts.statements = 0;
    const answers = await Promise.all(Array.from({ length: 500 }, () => answerOnce(request, perform)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect([tries, counts.statements]).toEqual([2, ofOne]);
  });

  test('for another process: they ask twice a second in the end, and give up after 40 s', async () => {
    const { database, counts } = await countingLedger();
    vi.useFakeTimers();
    const deps = { database, realClock, random: secureRandom(realClock) };
    const never = new Promise<never>(() => {});
    const request = { scope: 'events', key: 'slow', body: '{}' };
    void createAnswerOnce(deps)(request, () => never);
    await vi.advanceTimersByTimeAsync(0);
    const second = createAnswerOnce(deps)(request, () => never);
    // One writer renews its claim every 1.2 s; the rest is the waiting one's.
    for (let passedMs = 0; passedMs < 39_000; passedMs += 100) {
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(counts.statements).toBeLessThan(39 * (2 * 2 + 1) + 20);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await second).toEqual({ code: 'request_in_progress' });
  });
});
