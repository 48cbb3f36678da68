/** Which value each setting has, and where it comes from: the command line, the environment, a file or the default. */
import type { Environment } from '../../compose/env.ts';
import { namesOf, onOff, type Setting } from '../../lib/setting.ts';
import { CliError } from '../machine/errors.ts';
import { settingFrom, settingOption } from '../machine/options.ts';

export interface EffectiveSetting {
  setting: string;
  flag: string;
  variable: string | null;
  /** In the notation of the command line; `set` for a secret; null for a setting without a value. */
  value: string | null;
  source: 'option' | 'environment' | 'file' | 'default';
  /** The flag, the variable, or the file with the setting that names it. */
  origin: string | null;
  secret: boolean;
  /** The command does not start without it. */
  needed: boolean;
}

export interface SettingProblem {
  problem: string;
  fix: string;
}

/** Options of the command line as text, under their attribute names, and the environment. */
interface Given {
  given: Readonly<Record<string, unknown>>;
  env: Environment;
}

export function effectiveSettings(rows: readonly Setting<unknown>[], from: Given) {
  const found = rows.map((row) => ({ attribute: namesOf(row).attribute, ...settingOf(row, from) }));
  return {
    settings: found.map(({ shown }) => shown),
    problems: found.flatMap(({ problem }) => problem ?? []),
    /** The value that the command's handler would get; the default where a text is not understood. */
    values: Object.fromEntries(found.map(({ attribute, value }) => [attribute, value])),
  };
}

function settingOf(
  row: Setting<unknown>,
  { given, env }: Given,
): { shown: EffectiveSetting; value?: unknown; problem?: SettingProblem } {
  const { name, long, attribute, variable, optionVariable } = namesOf(row);
  const secret = row.secret !== undefined;
  const base = { setting: name, flag: long, variable, secret, needed: false };
  const isOption = given[attribute] !== undefined;
  const text = isOption ? textOf(given[attribute]) : env[optionVariable];
  if (text !== undefined) {
    const by = isOption ? long : optionVariable;
    const shown: EffectiveSetting =
      row.secret === 'file'
        ? { ...base, value: 'set', source: 'file', origin: `${text} (${by})` }
        : {
            ...base,
            value: secret ? 'set' : text,
            source: isOption ? 'option' : 'environment',
            origin: by,
          };
    return { shown, ...understood(row, { variable: by, text }) };
  }
  // The variable holds the secret itself instead of a file's name; `start` reads it from there.
  if (row.secret === 'file' && env[variable] !== undefined)
    return { shown: { ...base, value: 'set', source: 'environment', origin: variable } };
  const standard = row.default ?? row.otherwise ?? (row.kind === onOff ? 'false' : null);
  const shown: EffectiveSetting = { ...base, value: standard, source: 'default', origin: null };
  return { shown, value: settingOption(row).defaultValue };
}

const textOf = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value));

function understood(
  row: Setting<unknown>,
  { variable, text }: { variable: string; text: string },
): { value: unknown; problem?: SettingProblem } {
  const option = settingOption(row);
  try {
    return { value: settingFrom(option, { variable, text }) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const problem = row.secret === 'value' ? error.message.replace(`=${text}`, '') : error.message;
    return { value: option.defaultValue, problem: { problem, fix: error.problem.fix } };
  }
}
