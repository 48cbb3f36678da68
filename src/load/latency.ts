/** How long answers took, as percentiles. */
import { build } from 'hdr-histogram-js';

/** Milliseconds, with a tenth; null when nothing was recorded. */
export interface Latency {
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
  mean: number | null;
}

const TO_MICROSECONDS = 1_000;
/** Percentiles are right to a thousandth of their value. */
const DIGITS = 3;

export type LatencyRecorder = ReturnType<typeof createLatencyRecorder>;

export function createLatencyRecorder() {
  const histogram = build({ useWebAssembly: false, numberOfSignificantValueDigits: DIGITS });
  let count = 0;
  const at = (percentile: number) => tenths(histogram.getValueAtPercentile(percentile));
  return {
    record(ms: number): void {
      count += 1;
      histogram.recordValue(Math.max(1, Math.round(ms * TO_MICROSECONDS)));
    },
    read(): Latency {
      if (count === 0) return { p50: null, p90: null, p95: null, p99: null, max: null, mean: null };
      return {
        p50: at(50),
        p90: at(90),
        p95: at(95),
        p99: at(99),
        max: tenths(histogram.maxValue),
        mean: tenths(histogram.mean),
      };
    },
    /** Pairs of percentile and milliseconds, for a curve. */
    curve: (): [percentile: number, ms: number][] =>
      count === 0 ? [] : CURVE.map((percentile) => [percentile, at(percentile)]),
  };
}

const CURVE = [0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 99, 99.5, 99.9, 100];

const tenths = (microseconds: number) => Math.round(microseconds / 100) / 10;
