/** What each row is held against. */

/** `ratio` targets are for value / baseline, the others for the value itself. */
export const targets = {
  'events-sqlite': { unit: 'events/s', kind: 'ratio', least: 1.5 },
  'events-instant': { unit: 'events/s', kind: 'ratio', least: 0.5 },
  'events-postgres': { unit: 'events/s', kind: 'ratio', least: 1.3 },
  'events-vs-chain': { unit: 'events/s', kind: 'ratio', least: 5 },
  'cpu-per-event': { unit: 'ms', kind: 'value', most: 0.1 },
  'relay-vs-chain': { unit: 'relays/s', kind: 'ratio', least: 0.5 },
  'relay-vs-chain-many': { unit: 'relays/s', kind: 'ratio', least: 0.5 },
  'cpu-per-relay': { unit: 'ms', kind: 'value', most: 1 },
  'latency-p50': { unit: 'ms', kind: 'value', most: 10 },
  'latency-p99': { unit: 'ms', kind: 'value', most: 80 },
  growth: { unit: 'events/s', kind: 'ratio', least: 0.95 },
  'gas-per-reward': { unit: 'gas', kind: 'ratio', most: 1 },
  'calldata-per-reward': { unit: 'bytes', kind: 'value', most: 23 },
  'serve-ready': { unit: 's', kind: 'value', most: 0.5 },
  help: { unit: 'ms', kind: 'value', most: 80 },
  'console-open': { unit: 'events/s', kind: 'ratio', least: 0.97 },
  'console-click': { unit: 'ms', kind: 'value', most: 100 },
  memory: { unit: 'MB', kind: 'value', most: 250 },
  verify: { unit: 's', kind: 'value', most: 60 },
  'verify-memory': { unit: 'MB', kind: 'value', most: 250 },
} as const satisfies Record<string, Target>;

export type RowId = keyof typeof targets;
export type Target = { unit: string; kind: 'ratio' | 'value' } & ({ least: number } | { most: number });

export const targetOf = (id: RowId): Target => targets[id];

/** As a person reads it: `≥ 1.5 ×`, `≤ 0.1 ms`. */
export function targetText(id: RowId): string {
  const target = targetOf(id);
  const sign = 'least' in target ? `≥ ${target.least}` : `≤ ${target.most}`;
  return `${sign} ${target.kind === 'ratio' ? '×' : target.unit}`;
}
