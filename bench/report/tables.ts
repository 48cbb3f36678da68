/** What a run found, for a terminal. */
import type { Found, Rounds } from '../groups/found.ts';
import type { Row } from './rows.ts';
import { median, rounded } from './statistics.ts';
import { targetText } from './targets.ts';

/** Columns as wide as their widest cell; the first is aligned to the left, all others to the right. */
export function table(lines: string[][]): string {
  const widths = (lines[0] ?? []).map((_, place) =>
    Math.max(...lines.map((cells) => cells[place]?.length ?? 0)),
  );
  const pad = (cell: string, place: number) =>
    place === 0 ? cell.padEnd(widths[place] ?? 0) : cell.padStart(widths[place] ?? 0);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}

export const rowsTable = (rows: Row[]): string =>
  table([
    ['', 'value', 'unit', 'baseline', 'ratio', 'target', ''],
    ...rows.map(({ id, value, unit, baseline, ratio, met }) => [
      ...[id, String(value), unit, String(baseline ?? ''), String(ratio ?? '')],
      ...[targetText(id), met ? 'met' : 'not met'],
    ]),
  ]);

const spread = (values: number[]) =>
  `${rounded(median(values))} (${rounded(Math.min(...values))} to ${rounded(Math.max(...values))})`;
const percent = (values: number[] | undefined) =>
  values?.length ? `${Math.round(median(values) * 100)} %` : '';

const roundsRow = ([name, { rate, p50Ms, p99Ms, busy }]: [string, Rounds]) => [
  ...[name, spread(rate), String(rounded(median(p50Ms))), String(rounded(median(p99Ms)))],
  ...[percent(busy.process), percent(busy.chain), percent(busy.generator)],
];

/** Every measurement that has rounds, those of `growth` by their claims. */
export const allRounds = ({ rounds, growth = [] }: Found): [string, Rounds][] => [
  ...Object.entries(rounds).flatMap(([name, one]): [string, Rounds][] => (one ? [[name, one]] : [])),
  ...growth.map(({ claims, rounds: one }): [string, Rounds] => [`growth-${claims}`, one]),
];

export const roundsHead = ['', 'a second', 'p50 ms', 'p99 ms', 'process', 'chain', 'generator'];

/** Medians of the rounds with their spread, and how busy every process was: a generator near 100 % is what was measured. */
export const roundsLines = (found: Found): string[][] => allRounds(found).map(roundsRow);

export const roundsTable = (found: Found): string => table([roundsHead, ...roundsLines(found)]);

/** How we know that the generator is not what was measured. */
export function generatorText(found: Found): string {
  const { generator } = found;
  const shares = allRounds(found).flatMap(([, { busy }]) => busy.generator ?? []);
  const highest = shares.length
    ? `; in these rounds it was busy for ${Math.round(Math.max(...shares) * 100)} % at most`
    : '';
  return generator
    ? `the generator alone: ${Math.round(generator.perSecond)} requests a second against a server that only answers, busy for ${Math.round(generator.busy * 100)} % of a processor${highest}`
    : '';
}
