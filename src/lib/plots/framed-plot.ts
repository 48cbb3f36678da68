/** Plots inside of a page, which has their colours: bars, points and lines of the page's own classes in one frame. */
import { escaped, numberText, placed, ticksWithin } from './ticks.ts';

const WIDTH = 860;
const HEIGHT = 240;
const MARGIN = { left: 56, right: 12, top: 10, bottom: 30 };
const INNER = {
  width: WIDTH - MARGIN.left - MARGIN.right,
  height: HEIGHT - MARGIN.top - MARGIN.bottom,
};

export interface Side {
  /** Where the plot ends; it begins at 0. */
  max: number;
  label: string;
  /** In place of round numbers. */
  marks?: readonly (readonly [value: number, text: string])[];
}

/** From data to picture. */
export interface Places {
  x: (value: number) => number;
  y: (value: number) => number;
  left: number;
  right: number;
}

export interface FramedPlot {
  title: string;
  x: Side;
  y: Side;
  /** The inside, as SVG. */
  content: (places: Places) => string;
}

/** `<svg>` alone. */
export function framedPlot({ title, x, y, content }: FramedPlot): string {
  const places: Places = {
    x: (value) => placed(MARGIN.left + (value / x.max) * INNER.width),
    y: (value) => placed(MARGIN.top + INNER.height - (value / y.max) * INNER.height),
    left: MARGIN.left,
    right: WIDTH - MARGIN.right,
  };
  const yTicks = marksOf(y).map(([value, text]) => {
    const at = places.y(value);
    return `<line class="grid" x1="${places.left}" x2="${places.right}" y1="${at}" y2="${at}"/><text x="${MARGIN.left - 6}" y="${at + 4}" text-anchor="end">${escaped(text)}</text>`;
  });
  const xTicks = marksOf(x).map(
    ([value, text]) =>
      `<text x="${places.x(value)}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle">${escaped(text)}</text>`,
  );
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    ...yTicks,
    content(places),
    ...xTicks,
    '</svg>',
  ].join('');
}

const marksOf = ({ max, marks }: Side) =>
  marks ?? ticksWithin(max).map((value) => [value, numberText(value)] as const);

/** Bars beside each other over the whole width, each of kinds on top of each other; a kind is a class of the page. */
export function stackedBars(
  bars: readonly Readonly<Record<string, number>>[],
  { y, left, right }: Places,
): string {
  const width = (right - left) / Math.max(1, bars.length);
  return bars
    .flatMap((bar, index) => {
      let from = 0;
      return Object.entries(bar).flatMap(([kind, count]) => {
        if (count === 0) return [];
        const top = y(from + count);
        const height = placed(y(from) - top);
        from += count;
        const x = placed(left + index * width);
        return [
          `<rect class="${kind}" x="${x}" y="${top}" width="${placed(Math.max(0.5, width - 1))}" height="${height}"/>`,
        ];
      });
    })
    .join('');
}

/** A line through points of the plot. */
export const lineThrough = (
  points: readonly (readonly [x: number, y: number])[],
  { x, y }: Places,
  kind = 'line',
): string =>
  `<polyline class="${kind}" points="${points.map(([one, other]) => `${x(one)},${y(other)}`).join(' ')}"/>`;
