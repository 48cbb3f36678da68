/** docs/operations.md against the code: every setting, refusal, alarm, figure and difference, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { variableOf } from '../../src/cli/machine/options.ts';
import { secretOptions, startOptions } from '../../src/cli/start/options.ts';
import { createMetrics } from '../../src/production/metrics.ts';
import { startErrors } from '../../src/production/start-errors.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/operations.md');

/** Rows of the tables under a heading, as their cells. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
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
  const secrets = new Set(Object.values(secretOptions).map(({ variable }) => `${variable}_FILE`));
  const expected = startOptions().map((one) => {
    const variable = variableOf(one) ?? '';
    const name = secrets.has(variable)
      ? `\`${variable.replace(/_FILE$/, '')}\`, \`${variable}\``
      : `\`${variable}\``;
    const standard = one.defaultValueDescription ?? one.defaultValue;
    return [name, `\`${one.long}\``, standard === undefined ? '' : String(standard), one.description];
  });
  expect(rowsUnder('Settings')).toEqual(expected);
});

test.each([
  [
    'Refusals',
    () => Object.keys(startErrors).filter((code) => /^E_(?:PROD|START|SETTINGS|DATABASE)/.test(code)),
  ],
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
