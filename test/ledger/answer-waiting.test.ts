/** Requests under a key that is under way: they share the first one's answer, and ask rarely for it. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createAnswerOnce } from '../../src/actions/answer-once.ts';
import { migrate } from '../../src/ledger/database/migrate.ts';
import { openSqlite, sqliteQueries } from '../../src/ledger/database/sqlite.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { signal } from '../kits/databases/databases.ts';

const realClock = systemClock();

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
    // The first request of a process deletes old answers as well.
    await answerOnce({ ...request, key: 'earlier' }, async () => first);
    counts.statements = 0;
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
    expect(counts.statements).toBeGreaterThan(39 * 2 * 2);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await second).toEqual({ code: 'request_in_progress' });
  });
});
