/** The settings of a brand or rule as flags and `setting=value` texts; the service checks their values. */
import type { Option } from 'commander';
import { type Row, rowsOf, type Spec, writingOf } from '../../rules/brands/spec.ts';
import { usageError } from '../machine/errors.ts';
import { gather, option } from '../machine/options.ts';

/** The flags of the settings that have one, by setting; after it, by its alias, one that the help leaves out. */
export const settingFlags = (spec: Spec): [setting: string, flag: Option, row: Row][] =>
  rowsOf(spec).flatMap(([setting, row]) => {
    const { flag, alias } = row;
    if (flag === undefined) return [];
    const usual: [string, Option, Row] = [setting, flagOf(flag, row), row];
    if (alias === undefined) return [usual];
    const other = flag.replace(/^--[\w-]+/, `--${alias.replaceAll('_', '-')}`);
    return [usual, [alias, flagOf(other, row).hideHelp(), row]];
  });

function flagOf(flag: string, row: Row): Option {
  const repeatable = row.kind === 'list' || row.kind === 'map';
  const choices = choicesOf(row);
  const help = [
    `${row.help}${row.kind === 'map' ? `, such as ${row.example.join('=')}` : writingOf(row)}`,
    ...(repeatable ? ['repeatable'] : []),
    ...(row.clearable && !choices ? ['none'] : []),
  ];
  return option(flag, help.join('; '), {
    ...(choices && { choices }),
    ...(repeatable && { parse: gather }),
  });
}

function choicesOf(row: Row): string[] | undefined {
  if (row.kind === 'switch') return ['on', 'off'];
  if (row.kind === 'choice') return [...row.of, ...(row.clearable ? ['none'] : [])];
  return undefined;
}

/** The flags that were given, under the names of the settings. `none` clears a list. */
export function settingsFrom(spec: Spec, options: object): Record<string, unknown> {
  const typed = new Map<string, unknown>(Object.entries(options));
  const settings = settingFlags(spec).flatMap(([setting, flag, row]) => {
    const given = typed.get(flag.attributeName());
    if (given === undefined) return [];
    if (row.kind === 'map')
      return [[setting, mapOf(given as string[], `${flag.long} ${row.example.join('=')}`)]];
    const clears = row.kind === 'list' && row.clearable && String(given) === 'none';
    return [[setting, clears ? [] : given]];
  });
  return Object.fromEntries(settings);
}

/** `name=value` texts as a map; E_USAGE for a text without an equals sign. */
export function mapOf(pairs: readonly string[], example: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair): [string, string] => {
      const equals = pair.indexOf('=');
      if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)];
      throw usageError(`${pair} has no value.`, `Write it as ${example}.`);
    }),
  );
}
