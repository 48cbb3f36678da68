/** Plots as SVG, small enough to be read as text and drawn without any script. */
import type { Sample } from './relay-report.ts';

const WIDTH = 860;
const HEIGHT = 240;
const MARGIN = { left: 56, right: 12, top: 10, bottom: 30 };
const INNER = {
  width: WIDTH - MARGIN.left - MARGIN.right,
  height: HEIGHT - MARGIN.top - MARGIN.bottom,
};
/** More points than this cannot be told apart, and make the file slow to open. */
const POINTS_MAX = 4_000;
const BUCKETS = 120;

interface Axes {
  x: { max: number; label: string };
  y: { max: number; label: string };
}

/** Places from data to picture. */
const placeIn = ({ x, y }: Axes) => ({
  x: (value: number) => round(MARGIN.left + (value / x.max) * INNER.width),
  y: (value: number) => round(MARGIN.top + INNER.height - (value / y.max) * INNER.height),
});
const round = (value: number) => Math.round(value * 10) / 10;

/** How many answers of each kind there were, over time. */
export function answersPlot(samples: readonly Sample[]): string {
  const endMs = Math.max(1, ...samples.map(({ atMs, tookMs }) => atMs + tookMs));
  const buckets = Array.from({ length: BUCKETS }, () => ({ admitted: 0, refused: 0, failed: 0 }));
  for (const { atMs, tookMs, verdict } of samples) {
    const bucket = buckets[Math.min(BUCKETS - 1, Math.floor(((atMs + tookMs) / endMs) * BUCKETS))];
    if (bucket) bucket[verdict === 'address' ? 'refused' : verdict] += 1;
  }
  const most = Math.max(1, ...buckets.map((one) => one.admitted + one.refused + one.failed));
  const axes: Axes = {
    x: { max: endMs / 1_000, label: 'time in s' },
    y: { max: most, label: `answers in ${Math.max(1, Math.round(endMs / BUCKETS))} ms` },
  };
  const place = placeIn(axes);
  const width = INNER.width / BUCKETS;
  const bars = buckets.flatMap((bucket, index) => {
    let from = 0;
    return (['admitted', 'refused', 'failed'] as const).flatMap((kind) => {
      const count = bucket[kind];
      if (count === 0) return [];
      const top = place.y(from + count);
      const height = round(place.y(from) - top);
      from += count;
      const x = round(MARGIN.left + index * width);
      return [
        `<rect class="${kind}" x="${x}" y="${top}" width="${round(Math.max(1, width - 1))}" height="${height}"/>`,
      ];
    });
  });
  return svg('Answers over time', axes, bars.join(''));
}

/** How long each answer took, by when it was asked for. */
export function latencyPlot(samples: readonly Sample[]): string {
  const endMs = Math.max(1, ...samples.map(({ atMs }) => atMs));
  const axes: Axes = {
    x: { max: endMs / 1_000, label: 'time in s' },
    y: { max: Math.max(1, ...samples.map(({ tookMs }) => tookMs)), label: 'ms' },
  };
  const place = placeIn(axes);
  const every = Math.ceil(samples.length / POINTS_MAX);
  const points = samples
    .filter((_, index) => index % every === 0)
    .map(({ atMs, tookMs, verdict }) => {
      const kind = verdict === 'address' ? 'refused' : verdict;
      return `<circle class="${kind}" cx="${place.x(atMs / 1_000)}" cy="${place.y(tookMs)}" r="1.6"/>`;
    });
  return svg('Latency over time', axes, points.join(''));
}

/** Latency by percentile, stretched towards the slowest. */
export function percentilePlot(curve: readonly (readonly [number, number])[]): string {
  const stretched = (percentile: number) => -Math.log10(1 - Math.min(percentile, 99.95) / 100);
  const axes: Axes = {
    x: { max: stretched(100), label: 'percentile' },
    y: { max: Math.max(1, ...curve.map(([, ms]) => ms)), label: 'ms' },
  };
  const place = placeIn(axes);
  const line = curve.map(([percentile, ms]) => `${place.x(stretched(percentile))},${place.y(ms)}`).join(' ');
  const marks = [0, 50, 90, 99, 99.9].map(
    (percentile) => [stretched(percentile), String(percentile)] as const,
  );
  return svg('Latency by percentile', axes, `<polyline class="line" points="${line}"/>`, marks);
}

/** How many calls of each user were admitted; the line is the limit. */
export function usersPlot(admitted: readonly number[], limit: number | null): string {
  const axes: Axes = {
    x: { max: admitted.length, label: 'users' },
    y: { max: Math.max(1, limit ?? 0, ...admitted) * 1.1, label: 'admitted' },
  };
  const place = placeIn(axes);
  const width = INNER.width / admitted.length;
  const bars = admitted.map((count, index) => {
    const kind = limit !== null && count > limit ? 'failed' : 'admitted';
    const [x, y] = [round(MARGIN.left + index * width), place.y(count)];
    return `<rect class="${kind}" x="${x}" y="${y}" width="${round(Math.max(0.5, width - 1))}" height="${round(place.y(0) - y)}"/>`;
  });
  const line =
    limit === null
      ? ''
      : `<line class="limit" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${place.y(limit)}" y2="${place.y(limit)}"/>`;
  return svg('Admitted calls of each user', axes, bars.join('') + line);
}

function svg(
  title: string,
  axes: Axes,
  content: string,
  xMarks: readonly (readonly [number, string])[] = steps(axes.x.max),
): string {
  const place = placeIn(axes);
  const bottom = HEIGHT - MARGIN.bottom;
  const yTicks = steps(axes.y.max).map(
    ([value, text]) =>
      `<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${place.y(value)}" y2="${place.y(value)}"/><text x="${MARGIN.left - 6}" y="${place.y(value) + 4}" text-anchor="end">${text}</text>`,
  );
  const xTicks = xMarks.map(
    ([value, text]) => `<text x="${place.x(value)}" y="${bottom + 16}" text-anchor="middle">${text}</text>`,
  );
  return [
    `<figure><figcaption>${title} <small>(y: ${axes.y.label}, x: ${axes.x.label})</small></figcaption>`,
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    yTicks.join(''),
    content,
    xTicks.join(''),
    '</svg></figure>',
  ].join('');
}

/** About five round numbers from 0 on, with their texts. */
function steps(max: number): [number, string][] {
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10) * power;
  const count = Math.floor(max / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, place) => {
    const value = place * step;
    return [value, String(Number(value.toPrecision(6)))];
  });
}
