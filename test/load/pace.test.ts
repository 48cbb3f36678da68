import { expect, test } from 'vitest';
import { delay } from '../../src/lib/timers.ts';
import { createLatencyRecorder } from '../../src/load/latency.ts';
import { runPaced } from '../../src/load/pace.ts';
import { addressOf } from '../../src/load/relay-users.ts';

const never = new AbortController().signal;

test('so many at once, each job once', async () => {
  const seen: number[] = [];
  let [under, most] = [0, 0];
  const run = async (index: number) => {
    seen.push(index);
    under += 1;
    most = Math.max(most, under);
    await delay(2);
    under -= 1;
  };
  expect(await runPaced({ count: 50, run }, { concurrency: 7 }, never)).toBe(50);
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  expect(most).toBe(7);
});

test('nothing begins after the duration, or after the end was wished for', async () => {
  const run = () => delay(10);
  const begun = await runPaced({ count: 1_000, run }, { concurrency: 2, durationMs: 100 }, never);
  expect(begun).toBeLessThan(60);
  const rated = await runPaced({ count: 1_000, run }, { ratePerSecond: 100, durationMs: 100 }, never);
  expect(rated).toBeLessThanOrEqual(11);
  const stop = new AbortController();
  const stopping = runPaced({ count: 1_000, run }, { concurrency: 2 }, stop.signal);
  stop.abort();
  expect(await stopping).toBeLessThan(10);
});

test('percentiles are those of the values', () => {
  const recorder = createLatencyRecorder();
  expect(recorder.read()).toEqual({ p50: null, p90: null, p95: null, p99: null, max: null, mean: null });
  for (let ms = 1; ms <= 1_000; ms++) recorder.record(ms);
  const { p50, p90, p95, p99, max, mean } = recorder.read();
  for (const [value, wanted] of [
    [p50, 500],
    [p90, 900],
    [p95, 950],
    [p99, 990],
    [max, 1_000],
    [mean, 500.5],
  ] as const) {
    expect(Math.abs((value ?? 0) - wanted) / wanted).toBeLessThan(0.002);
  }
  expect(recorder.curve().at(-1)?.[0]).toBe(100);
});

test('users come from addresses of their own, and none asks a hundred times from one', () => {
  const byAddress = new Map<string, number>();
  for (let user = 0; user < 300; user++) {
    for (let request = 0; request < 200; request++) {
      const address = addressOf({ base: 4_294_967_295, perUser: 200 }, { user, request });
      expect(address).toMatch(/^198\.(18|19)\.\d{1,3}\.\d{1,3}$/);
      byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
    }
  }
  expect(byAddress.size).toBe(900);
  expect(Math.max(...byAddress.values())).toBe(90);
});
