import { afterEach, expect, test, vi } from 'vitest';
import { adjustableClock, steadyClock, systemClock } from '../../src/lib/clock.ts';

afterEach(() => void vi.restoreAllMocks());

test('runs from where it was set, and by as much as it was moved', () => {
  const clock = adjustableClock({ startMs: 1_000_000 });
  expect(clock.now()).toBeGreaterThanOrEqual(1_000_000);
  expect(clock.now()).toBeLessThan(1_060_000);
  clock.advance(86_400_000);
  expect(clock.now()).toBeGreaterThanOrEqual(87_400_000);
  expect(clock.now()).toBeLessThan(87_460_000);
});

test('frozen it stands, moves when it is moved, and runs on from there', async () => {
  const clock = adjustableClock({ startMs: 5_000, frozen: true });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(clock.now()).toBe(5_000);
  clock.advance(61_000);
  expect(clock.now()).toBe(66_000);
  expect(clock.state().frozen).toBe(true);
  clock.run();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(clock.now()).toBeGreaterThan(66_000);
  expect(clock.now()).toBeLessThan(126_000);
});

test('a sleep ends when the clock is moved past its end, and not before', async () => {
  const clock = adjustableClock({ startMs: 0, frozen: true });
  let awake = false;
  const sleeping = clock.sleep(3_600_000).then(() => {
    awake = true;
  });
  clock.advance(3_599_999);
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(awake).toBe(false);
  clock.advance(1);
  await sleeping;
  expect(awake).toBe(true);
});

test('a sleep ends at once when it is aborted, on either clock', async () => {
  for (const clock of [systemClock(), adjustableClock()]) {
    const stop = new AbortController();
    const sleeping = clock.sleep(60_000, stop.signal);
    stop.abort();
    await sleeping;
    await clock.sleep(60_000, stop.signal);
  }
});

test("a steady clock begins at the machine's time and follows no correction of it", async () => {
  const clock = steadyClock();
  const startMs = Date.now();
  expect(Math.abs(clock.now() - startMs)).toBeLessThan(60_000);
  const before = clock.now();
  expect(Number.isInteger(before)).toBe(true);
  for (const byMs of [-3_600_000, 3_600_000]) {
    vi.spyOn(Date, 'now').mockReturnValue(startMs + byMs);
    expect(clock.now() - before).toBeGreaterThanOrEqual(0);
    expect(clock.now() - before).toBeLessThan(60_000);
  }
  const asleep = clock.now();
  await clock.sleep(20);
  expect(clock.now() - asleep).toBeGreaterThanOrEqual(19);
});

test('listeners hear every change until they leave', () => {
  const clock = adjustableClock({ startMs: 0, frozen: true });
  const heard: number[] = [];
  const leave = clock.onChange(({ nowMs }) => heard.push(nowMs));
  clock.advance(5);
  clock.set(100);
  leave();
  clock.advance(5);
  expect(heard).toEqual([5, 100]);
});
