/** What a run found: rows held against their targets, as a table and as JSON. */

export interface Row {
  id: string;
  value: number;
  unit: string;
  /** The same unit, measured in the same run; null: the target is for the value itself. */
  baseline: number | null;
  /** value / baseline. */
  ratio: number | null;
  target: number;
  met: boolean;
}

export interface Machine {
  cpu: string;
  cores: number;
  memoryGiB: number;
  system: string;
  node: string;
  /** Median time of one fsync of a few KB in the folder of the ledger. */
  fsyncMs: number;
}

export interface Report {
  machine: Machine;
  rows: Row[];
}

/** Several rounds of one measurement; rates are per second. */
export interface Rounds {
  rate: number[];
  /** Processor milliseconds of the measured process for one piece of work. */
  cpuMsEach: number[];
  /** Share of one processor that each process had, the generator's among them: 1 is a whole one. */
  busy: Record<string, number[]>;
  p50Ms: number[];
  p99Ms: number[];
}

/** Ratios (the first four) are at least this, milliseconds of processor time at most. */
const targets = {
  'events-sqlite': 1.5,
  'events-vs-chain': 5,
  'relay-vs-chain': 0.5,
  'cpu-per-event': 0.1,
  'cpu-per-relay': 1,
} as const;

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

const rounded = (value: number, digits = 3) => Number(value.toPrecision(digits));

function rateRow(
  id: 'events-sqlite' | 'events-vs-chain' | 'relay-vs-chain',
  ours: Rounds,
  base: Rounds,
): Row {
  const [value, baseline] = [median(ours.rate), median(base.rate)];
  const ratio = value / baseline;
  const unit = id === 'relay-vs-chain' ? 'relays/s' : 'events/s';
  const target = targets[id];
  return {
    ...{ id, value: rounded(value), unit, baseline: rounded(baseline), ratio: rounded(ratio), target },
    met: ratio >= target,
  };
}

function processorRow(id: 'cpu-per-event' | 'cpu-per-relay', ours: Rounds): Row {
  const value = median(ours.cpuMsEach);
  const target = targets[id];
  return { id, value: rounded(value), unit: 'ms', baseline: null, ratio: null, target, met: value <= target };
}

export const rowsOf = (found: Record<'naive' | 'events' | 'raw' | 'relays', Rounds>): Row[] => [
  rateRow('events-sqlite', found.events, found.naive),
  rateRow('events-vs-chain', found.events, found.raw),
  rateRow('relay-vs-chain', found.relays, found.raw),
  processorRow('cpu-per-event', found.events),
  processorRow('cpu-per-relay', found.relays),
];

/** Columns as wide as their widest cell; the first is aligned to the left, all others to the right. */
function table(lines: string[][]): string {
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
    ...rows.map(({ id, value, unit, baseline, ratio, target, met }) => [
      ...[id, String(value), unit, String(baseline ?? ''), String(ratio ?? '')],
      ratio === null ? `≤ ${target} ms` : `≥ ${target} ×`,
      met ? 'met' : 'not met',
    ]),
  ]);

const spread = (values: number[], digits = 3) =>
  `${rounded(median(values), digits)} (${rounded(Math.min(...values), digits)} to ${rounded(Math.max(...values), digits)})`;
const percent = (values: number[] | undefined) =>
  values?.length ? `${Math.round(median(values) * 100)} %` : '';

/** Medians of the rounds with their spread, and how busy every process was: a generator near 100 % is what was measured. */
export const roundsTable = (found: Record<string, Rounds>): string =>
  table([
    ['', 'a second', 'p50 ms', 'p99 ms', 'process', 'chain', 'generator'],
    ...Object.entries(found).map(([name, { rate, p50Ms, p99Ms, busy }]) => [
      ...[name, spread(rate), String(rounded(median(p50Ms))), String(rounded(median(p99Ms)))],
      ...[percent(busy.process), percent(busy.chain), percent(busy.generator)],
    ]),
  ]);
