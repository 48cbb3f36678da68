/** What stands along the sides of a plot, and how texts and numbers are written into SVG. */

/** Round numbers from 0 to at least `highest`, five or so. */
export function ticksUpTo(highest: number): number[] {
  if (!(highest > 0)) return [0, 1];
  const rough = highest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? power * 10;
  const count = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, place) => Number((place * step).toPrecision(12)));
}

/** Those of them that lie inside of a plot that ends at `highest`. */
export const ticksWithin = (highest: number): number[] =>
  ticksUpTo(highest).filter((tick) => tick <= highest);

export const numberText = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: 2 });

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** A place in the picture; a tenth of a pixel is enough. */
export const placed = (value: number): number => Number(value.toFixed(1));
