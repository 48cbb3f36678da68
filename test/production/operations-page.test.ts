/** docs/operations.md against the code: every setting, refusal, alarm, figure and difference, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { errorTable } from '../../src/cli/machine/errors.ts';
import { namesOf } from '../../src/lib/setting.ts';
import { createMetrics } from '../../src/production/metrics.ts';
import { startRows } from '../../src/production/settings.ts';
import { startErrors } from '../../src/production/start-errors.ts';
import { brandSpec, rowsOf } from '../../src/rules/brands/spec.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/operations.md');

/** Rows of the tables under a heading, as their cells. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The names in a union type, as they stand in the source. */
function unionIn(file: string, type: string): string[] {
  const source = read(file);
  const from = source.indexOf(`export type ${type} =`);
  return [...source.slice(from, source.indexOf(';', from)).matchAll(/\| '([a-z_]+)'/g)].map(
    ([, name = '']) => name,
  );
}

test('the table of settings is the code', () => {
  const expected = startRows.map(([, row]) => {
    const { variable, optionVariable, long } = namesOf(row);
    const variables = variable === optionVariable ? [variable] : [variable, optionVariable];
    const standard = row.default ?? row.otherwise ?? '';
    return [variables.map((name) => `\`${name}\``).join(', '), `\`${long}\``, standard, row.help];
  });
  expect(rowsUnder('Settings')).toEqual(expected);
});

test('the table of settings of a brand is the code', () => {
  const written = (value: unknown) => {
    if (typeof value === 'boolean') return value ? 'on' : 'off';
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const expected = rowsOf(brandSpec)
    .filter(([, row]) => !row.fixed)
    .map(([name, row]) => [
      ...[`\`${name}\``, written(row.default), written(row.inProduction ?? row.default), row.help],
    ]);
  expect(rowsUnder('Settings of a brand')).toEqual(expected);
});

test('the table of refusals is the code', () => {
  const codes = (Object.keys(startErrors) as (keyof typeof startErrors)[]).filter((code) =>
    /^E_(?:PROD|START|SETTINGS|DATABASE|RECOVERY)/.test(code),
  );
  const expected = codes.map((code) => {
    const { exit, message, fix } = errorTable[code];
    return [`\`${code}\``, String(exit), message, fix];
  });
  expect(rowsUnder('Refusals')).toEqual(expected);
});

test.each([
  ['Alarms', () => unionIn('src/chain/alarms.ts', 'AlarmCode')],
  ['Differences', () => unionIn('src/audit/report.ts', 'DifferenceKind')],
])('%s: every one is explained, and no other', (heading, inCode) => {
  const explained = rowsUnder(heading).map(([name = '']) => name.replaceAll('`', ''));
  expect([...explained].sort()).toEqual([...inCode()].sort());
});

test('every figure is explained, and no other', async () => {
  const { text } = await createMetrics().text();
  const inCode = [...text.matchAll(/^# HELP (rewards_\S+)/gm)].map(([, name = '']) => name);
  const explained = rowsUnder('Figures').map(([name = '']) => name.replaceAll('`', '').replace(/\{.*/, ''));
  expect(explained.sort()).toEqual(inCode.sort());
});

test('the names of figures are as promtool wants them: a counter ends in _total, and nothing else does', async () => {
  const { text } = await createMetrics().text();
  const kinds = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', kind = '']) => ({
    name,
    kind,
  }));
  expect(kinds.length).toBeGreaterThan(50);
  expect(kinds.filter(({ name, kind }) => name.endsWith('_total') !== (kind === 'counter'))).toEqual([]);
});

test('a scrape says which versions run, and what the connections to the database do', async () => {
  const metrics = createMetrics();
  metrics.watchConnections({ connections: () => ({ total: 9, idle: 4, waiting: 2 }) });
  const { text } = await metrics.text();
  const versions = `version="${manifest.version}",node_version="${process.versions.node}"`;
  expect(text).toContain(`rewards_build_info{${versions}} 1\n`);
  expect(text).toContain('rewards_database_connections 9\n');
  expect(text).toContain('rewards_database_connections_idle 4\n');
  expect(text).toContain('rewards_database_connections_waiting 2\n');
});

test("the time of a node's answers is told by node and method", async () => {
  const metrics = createMetrics();
  metrics.rpc({ node: 2, method: 'eth_getBalance', outcome: 'answered', seconds: 0.3 });
  const { text } = await metrics.text();
  expect(text).toContain('rewards_rpc_requests_total{node="2",outcome="answered"} 1\n');
  expect(text).toContain('rewards_rpc_request_seconds_sum{node="2",method="eth_getBalance"} 0.3\n');
});
