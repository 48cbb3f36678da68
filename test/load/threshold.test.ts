import { expect, test } from 'vitest';
import { judge, type Metric, parseThreshold, thresholdMetrics } from '../../src/load/threshold.ts';

const values = (known: Partial<Record<Metric, number | null>>) =>
  ({ ...Object.fromEntries(thresholdMetrics.map((metric) => [metric, 0])), ...known }) as Record<
    Metric,
    number | null
  >;

function ok(text: string, known: Partial<Record<Metric, number | null>>): boolean | undefined {
  const threshold = parseThreshold(text);
  if ('problem' in threshold) throw new Error(threshold.problem);
  return judge([threshold], values(known))[0]?.ok;
}

test.each([
  ['over_admission==0', { over_admission: 0 }, { over_admission: 1 }],
  ['over_admission == 0', { over_admission: 0 }, { over_admission: 1 }],
  ['admitted>=1750', { admitted: 1_750 }, { admitted: 1_749 }],
  ['failed!=3', { failed: 2 }, { failed: 3 }],
  ['p95<200ms', { p95: 199.9 }, { p95: 200 }],
  ['p95<200', { p95: 199.9 }, { p95: 200 }],
  ['p99<=1.5s', { p99: 1_500 }, { p99: 1_500.1 }],
  ['rate>100', { rate: 100.1 }, { rate: 100 }],
  [' max < 1s ', { max: 999 }, { max: 1_000 }],
] as const)('%s', (text, right, wrong) => {
  expect([ok(text, right), ok(text, wrong)]).toEqual([true, false]);
});

test('what was not measured holds nothing', () => {
  expect(ok('p95<200ms', { p95: null })).toBe(false);
  expect(ok('p95>0', { p95: null })).toBe(false);
});

test('a result says what was written, what was measured, and whether it holds', () => {
  const threshold = parseThreshold(' p95<200ms ');
  if ('problem' in threshold) throw new Error(threshold.problem);
  expect(judge([threshold], values({ p95: 12.3 }))).toEqual([
    { threshold: 'p95<200ms', metric: 'p95', value: 12.3, ok: true },
  ]);
});

test.each([
  ['', 'must be a metric'],
  ['p95', 'must be a metric'],
  ['p95<', 'must be a metric'],
  ['p95<fast', 'must be a metric'],
  ['p95=<200', 'must be a metric'],
  ['p95<-1', 'must be a metric'],
  ['p95<1m', 'must be a metric'],
  ['p96<200', 'names an unknown metric, p96'],
  ['toString==0', 'must be a metric'],
  ['constructor==0', 'names an unknown metric, constructor'],
  ['admitted>5ms', 'compares admitted with a time'],
])('%j is none', (text, said) => {
  expect(parseThreshold(text)).toEqual({ problem: expect.stringContaining(said) });
});
