/** Whether a figure that was looked at again and again is level: the straight line through it, held against a limit. */
import { median } from '../report/statistics.ts';

export interface Trend {
  /** How much the line through the samples grows from the first to the last, as a share of their median. */
  growth: number;
  /** What that may be at most. */
  limit: number;
  isLevel: boolean;
}

/** Theil and Sen's line, the median of all slopes between two samples: a few outliers do not turn it. Falling counts as level. */
export function trendOf(samples: readonly number[], limit: number): Trend {
  const slopes: number[] = [];
  for (const [place, one] of samples.entries())
    for (let later = place + 1; later < samples.length; later++)
      slopes.push(((samples[later] ?? one) - one) / (later - place));
  const middle = median(samples);
  const growth = slopes.length === 0 || middle === 0 ? 0 : (median(slopes) * (samples.length - 1)) / middle;
  return { growth, limit, isLevel: growth <= limit };
}

/** At most `count` of them, evenly spread: a line through a thousand samples has half a million slopes. */
export const thinned = <Value>(values: readonly Value[], count: number): Value[] =>
  values.length <= count
    ? [...values]
    : Array.from(
        { length: count },
        (_, place) => values[Math.floor((place * values.length) / count)] as Value,
      );
