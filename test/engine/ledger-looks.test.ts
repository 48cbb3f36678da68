/** Questions to the ledger on behalf of those who wait: one at a time, and none for nobody. */
import { afterEach, expect, test } from 'vitest';
import { createLedgerLooks } from '../../src/chain/waiting/waiters.ts';
import { type LogFields, silentLog } from '../../src/lib/log.ts';
import { every } from '../../src/lib/timers.ts';
import { settled, until } from '../kits/service/clock.ts';

const NEVER_MS = 1_000_000;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** The questions that were asked, each of them open until it is answered or fails here. */
function open(pollMs: number) {
  const asked: { answer: () => void; fail: (error: Error) => void }[] = [];
  const lines: [string, string, LogFields][] = [];
  const say = (level: string) => (fields: LogFields, text: string) => lines.push([level, text, fields]);
  const of = { awaited: true };
  const looks = createLedgerLooks({
    what: 'waiting calls',
    pollMs,
    isAwaited: () => of.awaited,
    ask: () => new Promise<void>((answer, fail) => asked.push({ answer, fail })),
    log: { ...silentLog, error: say('error'), info: say('info') } as typeof silentLog,
  });
  stops.push(looks.stop);
  return { ...looks, of, asked, lines };
}

/** So many polls of a millisecond have gone by. */
async function polls(count: number): Promise<void> {
  let seen = 0;
  const stop = every(1, () => {
    seen += 1;
  });
  await until(`${count} polls`, () => seen >= count);
  stop();
}

test('while the ledger answers it is asked nothing else, and then once more if something changed meanwhile', async () => {
  const { look, asked } = open(NEVER_MS);
  look();
  look();
  look();
  expect(asked).toHaveLength(1);
  asked[0]?.answer();
  await settled();
  expect(asked).toHaveLength(2);
  asked[1]?.answer();
  await settled();
  expect(asked).toHaveLength(2);
  look();
  expect(asked).toHaveLength(3);
});

test('now and then it is asked by itself, while its last answer is open not', async () => {
  const { of, asked } = open(1);
  await until('a question', () => asked.length > 0);
  await polls(5);
  expect(asked).toHaveLength(1);
  asked[0]?.answer();
  await until('the next one', () => asked.length > 1);
  of.awaited = false;
  asked[1]?.answer();
  await polls(5);
  expect(asked).toHaveLength(2);
});

test('without a waiter nothing is asked, and nothing more once the last has left', async () => {
  const { look, of, asked } = open(NEVER_MS);
  of.awaited = false;
  look();
  expect(asked).toEqual([]);
  of.awaited = true;
  look();
  look();
  of.awaited = false;
  asked[0]?.answer();
  await settled();
  expect(asked).toHaveLength(1);
});

test('a ledger that does not answer is told once, and so is that it answers again', async () => {
  const { look, asked, lines } = open(NEVER_MS);
  look();
  asked[0]?.fail(new Error('the database is away'));
  await settled();
  look();
  asked[1]?.fail(new Error('the database is away'));
  await settled();
  look();
  asked[2]?.answer();
  await settled();
  expect(lines).toEqual([
    [
      'error',
      'asking the ledger about waiting calls failed; it is asked again',
      { error: expect.stringContaining('the database is away') },
    ],
    ['info', expect.stringContaining('asking the ledger about waiting calls works again'), expect.anything()],
  ]);
});
