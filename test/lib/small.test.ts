import { describe, expect, test } from 'vitest';
import { createBell } from '../../src/lib/bell.ts';
import { formatDuration, parseDuration } from '../../src/lib/duration.ts';
import { createGatherer } from '../../src/lib/gather.ts';
import { secureRandom, uuidV7 } from '../../src/lib/ids.ts';
import { jsonLog, scrub, silentLog } from '../../src/lib/log.ts';
import { createLoop } from '../../src/lib/loop.ts';
import { createMutex } from '../../src/lib/mutex.ts';
import { within } from '../../src/lib/timers.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['15m', 900_000],
    ['36h', 129_600_000],
    ['7d', 604_800_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1_500],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each(['', '5', 's', '1x', '-1s', '1 h', '1h 30m', '1e3s', 'NaNs', `${'9'.repeat(15)}d`])(
    'no duration: %j',
    (text) => expect(parseDuration(text)).toBeUndefined(),
  );

  test.each([
    [0, '0ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [61_000, '1m1s'],
    [86_398_200, '23h59m59s'],
    [90_061_000, '1d1h1m1s'],
  ])('%d ms is written %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test('what is written is read back as no less', () => {
    for (const ms of [1, 999, 1_001, 59_999, 3_600_001]) {
      expect(parseDuration(formatDuration(ms))).toBeGreaterThanOrEqual(ms);
    }
  });
});

describe('the gatherer', () => {
  test('hands over together what came during the last run, answers in order, and never overlaps', async () => {
    const runs: number[][] = [];
    let under = 0;
    const gatherer = createGatherer<number, string>({
      maxItems: 3,
      async run(items) {
        expect(++under).toBe(1);
        runs.push(items);
        await pause(5);
        under--;
        return items.map((item) => `#${item}`);
      },
    });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(gatherer.submit));
    expect(answers).toEqual(['#1', '#2', '#3', '#4', '#5']);
    expect(runs).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    await gatherer.idle();
  });

  test('a run that fails fails its own items only', async () => {
    const gatherer = createGatherer<number, number>({
      maxItems: 1,
      async run([item = 0]) {
        if (item === 2) throw new Error('no two');
        return [item];
      },
    });
    const settled = await Promise.allSettled([1, 2, 3].map(gatherer.submit));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

test('the mutex runs one at a time, in order, and goes on after a failure', async () => {
  const exclusive = createMutex();
  const order: string[] = [];
  const task = (name: string, ms: number) => async () => {
    order.push(`${name} in`);
    await pause(ms);
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
    const bell = createBell();
    bell.ring();
    bell.ring();
    expect(
      await within(
        1_000,
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
    await createBell().heard({ timeoutMs: 5 });
    const stop = new AbortController();
    const waiting = createBell().heard({ timeoutMs: 60_000, signal: stop.signal });
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
  await pause(20);
  expect(turns).toBe(2);
  loop.nudge();
  await pause(20);
  expect(turns).toBe(3);
  await loop.stop();
  loop.nudge();
  await pause(5);
  expect(turns).toBe(3);
});

test('ids sort by their time and carry version 7', () => {
  const random = secureRandom({ now: () => 1_700_000_000_000 });
  expect(random.uuid()).toMatch(/^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const zeros = new Uint8Array(10);
  expect(uuidV7({ nowMs: 1, random: zeros }) < uuidV7({ nowMs: 2, random: zeros })).toBe(true);
  expect(new Set(Array.from({ length: 1_000 }, () => random.uuid())).size).toBe(1_000);
});

describe('log lines', () => {
  test.each([
    ['mail to alice.b+tag@shop.demo.example now', 'alice'],
    ['https://user:secret@rpc.example/v3/0123456789abcdef failed', '0123456789abcdef'],
    ['postgres://rewards:hunter2@db.internal:5432/x', 'hunter2'],
    ['key rk_live_abc_0123456789abcdefghijklmn', '0123456789abcdefghijklmn'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    ['Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl', 'eyJzdWIiOiJhIn0'],
    [`raw 0x${'ab'.repeat(110)}`, 'abababababab'],
  ])('%s is scrubbed', (text, secret) => {
    expect(scrub(text)).not.toContain(secret);
    const lines: string[] = [];
    const log = jsonLog({ write: (line) => lines.push(line), level: 'info', now: () => 0 });
    log.info({ field: text }, text);
    expect(lines.join('')).not.toContain(secret);
  });
  test('hashes and addresses stay', () => {
    const hash = `0x${'ab'.repeat(32)}`;
    expect(scrub(`sent ${hash}`)).toContain(hash);
  });
  test('levels below the chosen one are silent', () => {
    const lines: string[] = [];
    const log = jsonLog({ write: (line) => lines.push(line), level: 'warn', now: () => 0 });
    log.info({}, 'quiet');
    log.warn({ n: 1 }, 'loud');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time: '1970-01-01T00:00:00.000Z', level: 'warn', n: 1, message: 'loud' },
    ]);
  });
});
