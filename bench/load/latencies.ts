/** Latencies as they are gathered: of a whole load, and of each of its spans. */
import { build, type Histogram } from 'hdr-histogram-js';
import type { Latencies } from './load.ts';

/** Microseconds: what takes longer than a minute counts as one. */
const HIGHEST = 60_000_000;

const histogram = () =>
  build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST,
    numberOfSignificantValueDigits: 3,
  });

export function gatherLatencies(startedAt: number, spanSeconds: number | undefined) {
  const all = histogram();
  const spans: Histogram[] = [];
  const spanAt = (now: number, spanMs: number) => {
    const place = Math.floor((now - startedAt) / spanMs);
    while (spans.length <= place) spans.push(histogram());
    return spans[place];
  };
  return {
    /** `now` is when it was answered. */
    record(milliseconds: number, now: number) {
      const value = Math.min(HIGHEST, Math.max(1, Math.round(milliseconds * 1_000)));
      all.recordValue(value);
      if (spanSeconds) spanAt(now, spanSeconds * 1_000)?.recordValue(value);
    },
    found: (): Latencies & { spans: Latencies[] } => ({ ...latenciesOf(all), spans: spans.map(latenciesOf) }),
  };
}

function latenciesOf(found: Histogram): Latencies {
  const at = (percentile: number) => found.getValueAtPercentile(percentile) / 1_000;
  return {
    answered: found.totalCount,
    p50Ms: at(50),
    p90Ms: at(90),
    p99Ms: at(99),
    p999Ms: at(99.9),
    maxMs: found.maxValue / 1_000,
  };
}
