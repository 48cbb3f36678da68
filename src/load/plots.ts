/** The plots of a load test's report, from the calls that were made. */
import { type FramedPlot, framedPlot, lineThrough, stackedBars } from '../lib/plots/framed-plot.ts';
import type { Sample } from './relay-report.ts';
import { kindOf } from './seconds.ts';

/** More points than this cannot be told apart, and make the file slow to open. */
const POINTS_MAX = 4_000;
const BUCKETS = 120;

/** With its title, and what its sides are. */
const figure = (plot: FramedPlot) =>
  `<figure><figcaption>${plot.title} <small>(y: ${plot.y.label}, x: ${plot.x.label})</small></figcaption>${framedPlot(plot)}</figure>`;

/** How many answers of each kind there were, over time. */
export function answersPlot(samples: readonly Sample[]): string {
  const endMs = Math.max(1, ...samples.map(({ atMs, tookMs }) => atMs + tookMs));
  const buckets = Array.from({ length: BUCKETS }, () => ({ admitted: 0, refused: 0, failed: 0 }));
  for (const sample of samples) {
    const at = Math.floor(((sample.atMs + sample.tookMs) / endMs) * BUCKETS);
    const bucket = buckets[Math.min(BUCKETS - 1, at)];
    if (bucket) bucket[kindOf(sample.verdict)] += 1;
  }
  return figure({
    title: 'Answers over time',
    x: { max: endMs / 1_000, label: 'time in s' },
    y: {
      max: Math.max(1, ...buckets.map((one) => one.admitted + one.refused + one.failed)),
      label: `answers in ${Math.max(1, Math.round(endMs / BUCKETS))} ms`,
    },
    content: (places) => stackedBars(buckets, places),
  });
}

/** How long each answer took, by when it was asked for. */
export function latencyPlot(samples: readonly Sample[]): string {
  const every = Math.ceil(samples.length / POINTS_MAX);
  const shown = samples.filter((_, index) => index % every === 0);
  return figure({
    title: 'Latency over time',
    x: { max: Math.max(1, ...samples.map(({ atMs }) => atMs)) / 1_000, label: 'time in s' },
    y: { max: Math.max(1, ...samples.map(({ tookMs }) => tookMs)), label: 'ms' },
    content: ({ x, y }) =>
      shown
        .map(
          (sample) =>
            `<circle class="${kindOf(sample.verdict)}" cx="${x(sample.atMs / 1_000)}" cy="${y(sample.tookMs)}" r="1.6"/>`,
        )
        .join(''),
  });
}

/** Latency by percentile, stretched towards the slowest. */
export function percentilePlot(curve: readonly (readonly [number, number])[]): string {
  const stretched = (percentile: number) => -Math.log10(1 - Math.min(percentile, 99.95) / 100);
  const marks = [0, 50, 90, 99, 99.9].map(
    (percentile) => [stretched(percentile), String(percentile)] as const,
  );
  return figure({
    title: 'Latency by percentile',
    x: { max: stretched(100), label: 'percentile', marks },
    y: { max: Math.max(1, ...curve.map(([, ms]) => ms)), label: 'ms' },
    content: (places) =>
      lineThrough(
        curve.map(([percentile, ms]) => [stretched(percentile), ms]),
        places,
      ),
  });
}

/** How many calls of each user were admitted; the line is the limit. */
export const usersPlot = (admitted: readonly number[], limit: number | null): string =>
  figure({
    title: 'Admitted calls of each user',
    x: { max: Math.max(1, admitted.length), label: 'users' },
    y: {
      max: admitted.reduce((most, one) => Math.max(most, one), Math.max(1, limit ?? 0)) * 1.1,
      label: 'admitted',
    },
    content(places) {
      const bars = admitted.map((count) => ({
        [limit !== null && count > limit ? 'failed' : 'admitted']: count,
      }));
      const most =
        limit === null
          ? ''
          : lineThrough(
              [
                [0, limit],
                [admitted.length, limit],
              ],
              places,
              'limit',
            );
      return stackedBars(bars, places) + most;
    },
  });
