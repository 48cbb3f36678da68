/** What is kept of the first answer under an Idempotency-Key. */
import { expect, test } from 'vitest';
import { answerOnce } from '../../src/actions/answer-once.ts';
import { beginRequest, findRequest, keepAnswer } from '../../src/ledger/limits/idempotency.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';

import { freshKey, onEveryDatabase } from '../kits/databases.ts';

const realClock = systemClock();

onEveryDatabase(({ kit }) => {
  const deps = () => ({ database: kit().database, realClock, random: secureRandom(realClock) });
  const request = () => ({ scope: 'events', key: freshKey('key'), body: '{}' });
  const never = () => Promise.reject(new Error('this is done once'));

  test('the first answer comes again with its status, its headers and the exact text of its body', async () => {
    const [once, answer] = [request(), { status: 429, headers: { 'retry-after': '7' }, body: '{ "a":1 }' }];
    expect(await answerOnce(deps(), once, async () => answer)).toEqual(answer);
    expect(await answerOnce(deps(), once, never)).toEqual(answer);
  });

  test('an answer without headers of its own comes again without any', async () => {
    const once = request();
    await answerOnce(deps(), once, async () => ({ status: 200, body: '' }));
    expect(await answerOnce(deps(), once, never)).toEqual({ status: 200, headers: {}, body: '' });
  });

  test('an answer that was kept before headers were comes again without any', async () => {
    const [once, { database }] = [request(), kit()];
    await answerOnce(deps(), once, async () => ({ status: 200, headers: { 'x-a': '1' }, body: 'b' }));
    await database.script(`update idempotency_keys set headers = null where key = '${once.key}'`);
    expect(await answerOnce(deps(), once, never)).toEqual({ status: 200, headers: {}, body: 'b' });
  });

  test('the answer that was kept first stays', async () => {
    const [{ scope, key }, { db }] = [request(), kit().database];
    const times = { busyUntil: 0, createdAt: 0 };
    await beginRequest(db, { scope, key, requestDigest: 'd', effectId: 'e', ...times });
    const first = { scope, key, status: 200, headers: { 'x-a': '1' }, body: 'first' };
    expect(await keepAnswer(db, first)).toBe(true);
    expect(await keepAnswer(db, { ...first, headers: {}, body: 'second' })).toBe(false);
    expect(await findRequest(db, { scope, key })).toMatchObject(first);
  });
});
