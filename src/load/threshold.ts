/** Thresholds of a load test, such as `over_admission==0` or `p95<200ms`. */

const LIMITS = ['over_admission', 'under_admission'] as const;
const COUNTS = ['sent', 'admitted', 'refused', 'failed'] as const;
/** In milliseconds. */
const TIMES = ['avg', 'p50', 'p90', 'p95', 'p99', 'max'] as const;

/** The metrics that thresholds can compare. */
export const thresholdMetrics = [
  ...[...LIMITS, ...COUNTS],
  ...(['header_problems', 'reset_problems'] as const),
  ...[...TIMES, 'rate' as const],
] as const;
/** Those of a load test of events: RWT instead of windows. */
export const eventMetrics = [
  ...[...LIMITS, 'over_payment' as const, 'under_payment' as const, 'differences' as const],
  ...[...COUNTS, ...TIMES, 'rate' as const],
] as const;
export type RelayMetric = (typeof thresholdMetrics)[number];
export type EventMetric = (typeof eventMetrics)[number];
export type Metric = RelayMetric | EventMetric;

const OPERATORS = {
  '==': (value: number, bound: number) => value === bound,
  '!=': (value: number, bound: number) => value !== bound,
  '<=': (value: number, bound: number) => value <= bound,
  '>=': (value: number, bound: number) => value >= bound,
  '<': (value: number, bound: number) => value < bound,
  '>': (value: number, bound: number) => value > bound,
};
const areTimes: ReadonlySet<Metric> = new Set(TIMES);
const UNIT_MS = { '': 1, ms: 1, s: 1_000 };

export interface Threshold {
  /** The threshold as written. */
  text: string;
  metric: Metric;
  holds: (value: number) => boolean;
}

/** One threshold next to what was measured. */
export interface ThresholdResult {
  threshold: string;
  metric: Metric;
  /** Null: nothing was measured, such as the latency of no answer; that never holds. */
  value: number | null;
  ok: boolean;
}

/** The threshold, or what is wrong with the text. */
export function parseThreshold(
  text: string,
  metrics: readonly Metric[] = thresholdMetrics,
): Threshold | { problem: string } {
  const [, name = '', operator = '', amount = '', unit = ''] =
    /^\s*([a-z][a-z0-9_]*)\s*(==|!=|<=|>=|<|>)\s*(\d+(?:\.\d+)?)\s*(ms|s|)\s*$/.exec(text) ?? [];
  if (operator === '') return { problem: 'must be a metric, a comparison and a number, such as p95<200ms' };
  const metric = metrics.find((one) => one === name);
  if (!metric) return { problem: `names an unknown metric, ${name}; the metrics are ${metrics.join(', ')}` };
  if (unit !== '' && !areTimes.has(metric))
    return { problem: `compares ${name} with a time, but ${name} is a plain number` };
  const bound = Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  const compare = OPERATORS[operator as keyof typeof OPERATORS];
  return { text: text.trim(), metric, holds: (value) => compare(value, bound) };
}

export const judge = (
  thresholds: readonly Threshold[],
  values: Readonly<Partial<Record<Metric, number | null>>>,
): ThresholdResult[] =>
  thresholds.map(({ text, metric, holds }) => {
    const value = values[metric] ?? null;
    return { threshold: text, metric, value, ok: value !== null && holds(value) };
  });
