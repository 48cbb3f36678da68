/** What makes work wait for its turn: gatherers, mutex, bell, loop. */
import { describe, expect, test } from 'vitest';
import { createBatcher } from '../../src/lib/batch/batcher.ts';
import { createKeyedBatcher } from '../../src/lib/batch/keyed-batcher.ts';
import { jsonLog, silentLog } from '../../src/lib/log.ts';
import { createLoop } from '../../src/lib/loop.ts';
import { createMutex } from '../../src/lib/mutex.ts';
import { delay, within } from '../../src/lib/timers.ts';
import { createWakeSignal } from '../../src/lib/wake-signal.ts';
import { settled, until } from '../kits/service/clock.ts';

describe('the batcher', () => {
  test('hands over together what came during the last run, answers in order, and never overlaps', async () => {
    const runs: number[][] = [];
    let under = 0;
    const batcher = createBatcher<number, string>({
      maxItems: 3,
      async run(items) {
        expect(++under).toBe(1);
        runs.push(items);
        await delay(5);
        under--;
        return items.map((item) => `#${item}`);
      },
    });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(batcher.submit));
    expect(answers).toEqual(['#1', '#2', '#3', '#4', '#5']);
    expect(runs).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    await batcher.idle();
  });

  test('a run that fails fails its own items only', async () => {
    const batcher = createBatcher<number, number>({
      maxItems: 1,
      async run([item = 0]) {
        if (item === 2) throw new Error('no two');
        return [item];
      },
    });
    const settled = await Promise.allSettled([1, 2, 3].map(batcher.submit));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('the batcher that parts', () => {
  const locked = new Error('locked');
  /** Rows of one letter each; `a1` needs the row a. A run apart gets through as soon as its row is free. */
  function rounds({ of = undefined as Set<string> | undefined, knowsLocked = true } = {}) {
    const [runs, apart, rows] = [[] as string[][], [] as string[][], of ?? new Set<string>()];
    const keyOf = (item: string) => item.slice(0, 1);
    const batcher = createKeyedBatcher<string, string, string>({
      maxItems: 10,
      keyOf,
      isLocked: (error) => error === locked,
      async run(items) {
        runs.push(items);
        if (items.some((item) => rows.has(keyOf(item)))) throw locked;
        return items.map((item) => `#${item}`);
      },
      ...(knowsLocked && { lockedKeys: async (keys) => new Set(keys.filter((key) => rows.has(key))) }),
      async runApart(items) {
        apart.push(items);
        while (rows.has(keyOf(items[0] ?? ''))) await delay(1);
        if (items.includes('a-fails')) throw locked;
        return items.map((item) => `#${item} apart`);
      },
    });
    return { ...batcher, runs, apart, rows };
  }

  test('runs what needs a locked row apart until a run of it gets through; the others do not wait', async () => {
    const { submit, idle, runs, apart, rows } = rounds({ of: new Set(['a']) });
    const first = ['a1', 'b1', 'a2'].map(submit);
    expect(await first[1]).toBe('#b1');
    // Later ones of the row go the same way, without a run that would meet it again.
    const later = submit('a3');
    expect(await submit('b2')).toBe('#b2');
    expect(runs).toEqual([['a1', 'b1', 'a2'], ['b1'], ['b2']]);
    rows.clear();
    expect(await Promise.all([first[0], first[2], later])).toEqual(['#a1 apart', '#a2 apart', '#a3 apart']);
    expect(apart.flat()).toEqual(['a1', 'a2', 'a3']);
    await idle();
    expect(await submit('a4')).toBe('#a4');
  });

  test('goes on apart after a run that failed, and its items fail alone', async () => {
    const { submit, apart, rows } = rounds({ of: new Set(['a']) });
    const both = Promise.allSettled(['a-fails', 'b1'].map(submit));
    await until('its run apart', () => apart.length > 0);
    rows.clear();
    expect(await both).toEqual([
      { status: 'rejected', reason: locked },
      { status: 'fulfilled', value: '#b1' },
    ]);
    expect(await submit('a1')).toBe('#a1 apart');
    expect(await submit('a1')).toBe('#a1');
  });

  test('runs every key of the run apart where it is not known which is locked', async () => {
    const { submit, rows } = rounds({ of: new Set(['a']), knowsLocked: false });
    const first = submit('a1');
    expect(await submit('b1')).toBe('#b1 apart');
    rows.clear();
    expect(await first).toBe('#a1 apart');
  });

  test('is idle when nothing is under way in any run', async () => {
    const { submit, idle, rows } = rounds({ of: new Set(['a']) });
    let isIdle = false;
    const first = submit('a1');
    expect(await submit('b1')).toBe('#b1');
    const waited = idle().then(() => {
      isIdle = true;
    });
    await submit('b2');
    expect(isIdle).toBe(false);
    rows.clear();
    await Promise.all([first, waited]);
  });

  test('hands on every other failure', async () => {
    const batcher = createKeyedBatcher<string, string, string>({
      maxItems: 10,
      keyOf: (item) => item,
      isLocked: () => false,
      run: () => Promise.reject(new Error('no disk')),
      runApart: () => Promise.reject(new Error('never')),
    });
    await expect(batcher.submit('a')).rejects.toThrow('no disk');
  });
});

test('the mutex runs one at a time, in order, and goes on after a failure', async () => {
  const exclusive = createMutex();
  const order: string[] = [];
  const task = (name: string, ms: number) => async () => {
    order.push(`${name} in`);
    await delay(ms);
    order.push(`${name} out`);
    if (name === 'b') throw new Error('b');
  };
  const settled = await Promise.allSettled([
    exclusive(task('a', 10)),
    exclusive(task('b', 1)),
    exclusive(task('c', 1)),
  ]);
  expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

describe('the bell', () => {
  test('a ring before the wait is heard at once, and only once', async () => {
    const bell = createWakeSignal();
    bell.ring();
    bell.ring();
    expect(
      await within(
        30_000,
        bell.heard({ timeoutMs: 10_000 }).then(() => 'heard'),
      ),
    ).toBe('heard');
    expect(
      await within(
        20,
        bell.heard({ timeoutMs: 10_000 }).then(() => 'heard'),
      ),
    ).toBeUndefined();
  });
  test('waits no longer than asked', async () => {
    await createWakeSignal().heard({ timeoutMs: 5 });
    const stop = new AbortController();
    const waiting = createWakeSignal().heard({ timeoutMs: 60_000, signal: stop.signal });
    stop.abort();
    await waiting;
  });
});

test('a loop goes on while there is work, sleeps, survives a failure, and stops', async () => {
  let turns = 0;
  const loop = createLoop({
    name: 'test',
    log: silentLog,
    pauseMs: () => 60_000,
    async turn() {
      turns += 1;
      if (turns === 2) throw new Error('once');
      return turns === 1 ? 'worked' : 'idle';
    },
  });
  loop.start();
  await until('its second turn', () => turns === 2);
  await settled();
  loop.nudge();
  await until('its third turn', () => turns === 3);
  await settled();
  expect(turns).toBe(3);
  await loop.stop();
  loop.nudge();
  await settled();
  expect(turns).toBe(3);
});

test('a loop that fails says each cause once, without its statement, and once that it works again', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = jsonLog({ write: (line) => lines.push(JSON.parse(line)), level: 'info', now: () => 0 });
  const full = Object.assign(new Error('no space left on device'), { code: '53100' });
  let turns = 0;
  const loop = createLoop({
    name: 'test',
    log,
    pauseMs: () => 1,
    async turn() {
      turns += 1;
      if (turns <= 5) throw new Error('Failed query: insert into "lanes" params: 1,2', { cause: full });
      return 'idle';
    },
  });
  loop.start();
  await until('it to work again', () => lines.some(({ level }) => level === 'info'));
  await loop.stop();
  expect(lines).toMatchObject([
    {
      level: 'error',
      error: '53100: no space left on device',
      message: expect.stringContaining('test loop failed'),
    },
    {
      level: 'info',
      failures: 5,
      message: expect.stringMatching(/^the test loop works again after \d+m?s$/),
    },
  ]);
});

test('a loop that fails comes ever later; a nudge does not wait', async () => {
  const begun: number[] = [];
  let pauseMs = 10;
  const loop = createLoop({
    name: 'test',
    log: silentLog,
    pauseMs: () => pauseMs,
    async turn() {
      begun.push(performance.now());
      throw new Error('always');
    },
  });
  loop.start();
  await until('five turns', () => begun.length > 4);
  const pauses = begun.slice(1, 5).map((at, index) => at - (begun[index] ?? at));
  // A timer may come a millisecond early.
  for (const [index, ms] of pauses.entries()) expect(ms).toBeGreaterThanOrEqual(10 * 2 ** (index + 1) - 2);

  pauseMs = 3_600_000;
  await until('a turn after which it sleeps', () => begun.length > 5);
  await settled();
  const before = begun.length;
  loop.nudge();
  await until('the turn that was asked for', () => begun.length > before);
  await loop.stop();
});
