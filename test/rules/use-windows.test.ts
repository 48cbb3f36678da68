import { expect, test } from 'vitest';
import { createUseWindows } from '../../src/http/frame/address-gate.ts';

const windowsAt = (clock: { ms: number }, subjectsMax = 100) =>
  createUseWindows({ limit: 2, windowMs: 1_000, subjectsMax, now: () => clock.ms });

test('a window begins with its first use, allows its limit, and ends to the millisecond', () => {
  const clock = { ms: 5_000 };
  const use = windowsAt(clock);
  expect(use('a')).toEqual({ taken: true, limit: 2, remaining: 1, resetAtMs: 6_000 });
  clock.ms = 5_500;
  expect(use('a')).toEqual({ taken: true, limit: 2, remaining: 0, resetAtMs: 6_000 });
  clock.ms = 5_999;
  expect(use('a')).toMatchObject({ taken: false, remaining: 0, resetAtMs: 6_000 });
  expect(use('b')).toMatchObject({ taken: true, resetAtMs: 6_999 });
  clock.ms = 6_000;
  expect(use('a')).toEqual({ taken: true, limit: 2, remaining: 1, resetAtMs: 7_000 });
});

test('a clock that was set back ends every window', () => {
  const clock = { ms: 5_000 };
  const use = windowsAt(clock);
  for (let n = 0; n < 3; n++) use('a');
  clock.ms = 4_999;
  expect(use('a')).toMatchObject({ taken: true, remaining: 1, resetAtMs: 5_999 });
});

test('above its most subjects, the window that began first is forgotten', () => {
  const clock = { ms: 0 };
  const use = windowsAt(clock, 2);
  for (const subject of ['a', 'a', 'a', 'b', 'b']) use(subject);
  expect(use('c').taken).toBe(true);
  expect(use('b').taken).toBe(false);
});
