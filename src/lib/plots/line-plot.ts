/** Draws lines over two axes as a picture of its own, readable on a light page and on a dark one. */
import { escaped, numberText, placed, ticksUpTo, ticksWithin } from './ticks.ts';

export interface Axis {
  label: string;
  /** `places`: the points lie at equal distances, whatever their values. */
  scale: 'linear' | 'log' | 'places';
  /** In place of numbers, one for each place. */
  names?: string[];
}

export interface Series {
  name: string;
  points: { x: number; y: number }[];
}

export interface Plot {
  title: string;
  x: Axis;
  /** Begins at 0. */
  y: { label: string };
  /** At most four. */
  series: Series[];
}

const WIDTH = 720;
const HEIGHT = 360;
const frame = { left: 84, right: 24, top: 64, bottom: 58 };
const plotWidth = WIDTH - frame.left - frame.right;
const plotHeight = HEIGHT - frame.top - frame.bottom;

/** Told apart by people who do not see all colours; the pairs are for light and for dark. */
const colours: [string, string][] = [
  ['#0969da', '#58a6ff'],
  ['#bc4c00', '#f0883e'],
  ['#1a7f37', '#3fb950'],
  ['#8250df', '#bc8cff'],
];

const style = `<style>
text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#57606a}
.title{font-size:15px;font-weight:600;fill:#1f2328}
.grid{stroke:#d0d7de}.line{fill:none;stroke-width:2}
${colours.map(([light], place) => `.s${place}{stroke:${light}}.f${place}{fill:${light}}`).join('')}
@media (prefers-color-scheme:dark){text{fill:#9198a1}.title{fill:#f0f6fc}.grid{stroke:#3d444d}
${colours.map(([, dark], place) => `.s${place}{stroke:${dark}}.f${place}{fill:${dark}}`).join('')}}
</style>`;

/** @returns the whole picture; a plot without a point is an error. */
export function drawPlot({ title, x, y, series }: Plot): string {
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) throw new Error(`${title}: there is no point to draw`);
  const xs = [...new Set(points.map((one) => one.x))].sort((one, other) => one - other);
  const yTicks = ticksUpTo(highest(points, ({ y: value }) => value));
  const top = yTicks.at(-1) ?? 1;
  const across = placeAcross(x.scale, xs);
  const down = (value: number) => placed(frame.top + plotHeight * (1 - value / top));
  const xTicks = x.scale === 'linear' ? ticksWithin(xs.at(-1) ?? 1) : xs;
  const lines = [
    ...yTicks.map(
      (tick) =>
        `<path class="grid" d="M${frame.left} ${down(tick)}H${WIDTH - frame.right}"/><text x="${frame.left - 8}" y="${down(tick) + 4}" text-anchor="end">${numberText(tick)}</text>`,
    ),
    ...xTicks.map(
      (tick, place) =>
        `<text x="${across(tick)}" y="${HEIGHT - frame.bottom + 20}" text-anchor="middle">${escaped(x.names?.[place] ?? numberText(tick))}</text>`,
    ),
    ...series.map((one, place) =>
      drawn(
        one.points.map((point) => [across(point.x), down(point.y)]),
        place,
      ),
    ),
    ...legend(series),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}">`,
    style,
    `<text class="title" x="${frame.left}" y="24">${escaped(title)}</text>`,
    `<text x="${frame.left + plotWidth / 2}" y="${HEIGHT - 14}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text transform="translate(16 ${frame.top + plotHeight / 2}) rotate(-90)" text-anchor="middle">${escaped(y.label)}</text>`,
    ...lines,
    '</svg>\n',
  ].join('\n');
}

function placeAcross(scale: Axis['scale'], xs: number[]): (value: number) => number {
  // A logarithm has no place for 0 and what lies below: it stands where the least value that has one does.
  const least = xs.find((one) => one > 0) ?? 1;
  const value = (one: number) => {
    if (scale === 'places') return xs.indexOf(one);
    return scale === 'log' ? Math.log(Math.max(one, least)) : one;
  };
  const first = scale === 'linear' ? 0 : value(xs[0] ?? 0);
  const width = value(xs.at(-1) ?? 1) - first || 1;
  const inset = scale === 'linear' ? 0 : 24;
  return (one) => placed(frame.left + inset + ((plotWidth - 2 * inset) * (value(one) - first)) / width);
}

/** Point by point: a list is longer than a call may have arguments. */
function highest<T>(of: readonly T[], value: (one: T) => number): number {
  let found = Number.NEGATIVE_INFINITY;
  for (const one of of) found = Math.max(found, value(one));
  return found;
}

/** A line, with dots where its points are few enough to be told apart. */
function drawn(places: number[][], number: number): string {
  const path = places.map(([across, down], place) => `${place === 0 ? 'M' : 'L'}${across} ${down}`).join('');
  const dots =
    places.length > 20
      ? ''
      : places
          .map(([across, down]) => `<circle class="f${number}" cx="${across}" cy="${down}" r="3"/>`)
          .join('');
  return `<path class="line s${number}" d="${path}"/>${dots}`;
}

function legend(series: Series[]): string[] {
  let left = frame.left;
  return series.map(({ name }, number) => {
    const text = `<circle class="f${number}" cx="${left + 5}" cy="43" r="5"/><text x="${left + 16}" y="47">${escaped(name)}</text>`;
    left += 40 + name.length * 6.6;
    return text;
  });
}
