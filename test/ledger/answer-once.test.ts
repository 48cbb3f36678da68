/** What is kept of the first answer under an Idempotency-Key. */
import { expect, test } from 'vitest';
import { createAnswerOnce, type TriedAnswer } from '../../src/actions/answer-once.ts';
import { atMs } from '../../src/ledger/database/database.ts';
import {
  beginRequest,
  findRequest,
  keepAnswer,
  takeOverRequest,
} from '../../src/ledger/limits/idempotency.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';

import { freshKey, onEveryDatabase } from '../kits/databases/databases.ts';

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

  test('a try that threw leaves its claim at once, and its id to the next one', async () => {
    const [{ scope, key, body }, { db, now }] = [request(), kit().database];
    const ids: string[] = [];
    const thrown = new Error('a fault');
    const trying = answerOnce({ scope, key, body }, async ({ id }) => {
      ids.push(id);
      throw thrown;
    });
    await expect(trying).rejects.toBe(thrown);
    expect(await takeOverRequest(db, { scope, key, now, forMs: 0 })).toBeDefined();
    await answerOnce({ scope, key, body }, async ({ id, mayExist }) => {
      expect(mayExist).toBe(true);
      ids.push(id);
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
