/** That the measurements run, and the shape of what `npm run bench -- --json FILE` writes; how quick anything is, no test says. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { median, type Rounds, roundsTable, rowsOf, rowsTable } from '../bench/report.ts';

const rounds = (rate: number[], cpuMsEach: number[]): Rounds => ({
  rate,
  cpuMsEach,
  busy: { process: [0.9], chain: [], generator: [0.2] },
  p50Ms: [10],
  p99Ms: [20],
});
const found = {
  naive: rounds([3_000, 4_000, 5_000], [0.1]),
  events: rounds([6_000, 5_000, 7_000], [0.09]),
  raw: rounds([2_000], [0.5]),
  relays: rounds([100], [9.6]),
};

test('a row has its value, its baseline of the same run, their ratio, and whether the target is met', () => {
  const rows = rowsOf(found);
  expect(rows).toEqual([
    {
      id: 'events-sqlite',
      value: 6_000,
      unit: 'events/s',
      baseline: 4_000,
      ratio: 1.5,
      target: 1.5,
      met: true,
    },
    {
      id: 'events-vs-chain',
      value: 6_000,
      unit: 'events/s',
      baseline: 2_000,
      ratio: 3,
      target: 5,
      met: false,
    },
    {
      id: 'relay-vs-chain',
      value: 100,
      unit: 'relays/s',
      baseline: 2_000,
      ratio: 0.05,
      target: 0.5,
      met: false,
    },
    { id: 'cpu-per-event', value: 0.09, unit: 'ms', baseline: null, ratio: null, target: 0.1, met: true },
    { id: 'cpu-per-relay', value: 9.6, unit: 'ms', baseline: null, ratio: null, target: 1, met: false },
  ]);
  expect(rowsTable(rows).split('\n')).toHaveLength(rows.length + 1);
});

test('a median is the middle one, or lies between the two in the middle', () => {
  expect([median([9, 1, 5]), median([4, 2])]).toEqual([5, 3]);
});

test('how busy the generator was is said of every measurement', () => {
  const [head, ...lines] = roundsTable(found).split('\n');
  expect(head).toMatch(/generator$/);
  expect(lines.map((line) => line.endsWith('20 %'))).toEqual([true, true, true, true]);
});

test('its modules are loaded by Node itself, and each says what may come after it', async () => {
  const bench = new URL('../scripts/bench.js', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [bench, '--help']);
  expect(stdout.split('\n').filter((line) => line.startsWith('npm'))).toEqual([
    'npm run bench --',
    'npm run bench -- verify',
    'npm run bench -- leaderboard',
    'npm run bench -- memory',
  ]);
  expect(stdout).toContain('--database …     an empty database of Postgres; without one, SQLite\n');
});
