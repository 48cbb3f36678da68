/** Which value each setting has, and where it comes from: the command line, the environment, a file or the default. */
import type { Option } from 'commander';
import type { Environment } from '../../compose/env.ts';
import { CliError } from '../machine/errors.ts';
import { settingFrom, variableOf } from '../machine/options.ts';
import { secretOptions } from '../start/options.ts';

export interface EffectiveSetting {
  setting: string;
  flag: string;
  variable: string | null;
  /** As one would write it; `set` for a secret; null when there is none. */
  value: string | null;
  source: 'option' | 'environment' | 'file' | 'default';
  /** The flag, the variable, or the file and what names it. */
  origin: string | null;
  secret: boolean;
  /** The command does not start without it. */
  needed: boolean;
}

export interface SettingProblem {
  problem: string;
  fix: string;
}

interface Found {
  shown: EffectiveSetting;
  /** What the command would get; the default where the text is not understood. */
  value: unknown;
  problems: SettingProblem[];
}

/** Addresses that carry passwords or keys of a provider. */
const SECRET_FLAGS = new Set(['--database-url', '--rpc-url']);
const variablesOfSecrets = new Set(Object.values(secretOptions).map(({ variable }) => `${variable}_FILE`));

/** `given` are the options of the command line as text, under their attribute names. */
export function effectiveSettings(
  options: readonly Option[],
  from: { given: Readonly<Record<string, unknown>>; env: Environment },
) {
  const found = options.map((one): [string, Found] => [one.attributeName(), settingOf(one, from)]);
  return {
    settings: found.map(([, { shown }]) => shown),
    problems: found.flatMap(([, { problems }]) => problems),
    /** What the command's handler would be called with. */
    values: Object.fromEntries(found.map(([name, { value }]) => [name, value])),
  };
}

function settingOf(
  one: Option,
  { given, env }: { given: Readonly<Record<string, unknown>>; env: Environment },
): Found {
  const flag = one.long ?? '';
  const variable = variableOf(one) ?? null;
  const isSecretFile = variable !== null && variablesOfSecrets.has(variable);
  const base = {
    setting: (isSecretFile ? flag.replace(/-file$/, '') : flag).replace(/^--/, ''),
    flag,
    variable: isSecretFile ? variable.replace(/_FILE$/, '') : variable,
    secret: isSecretFile || SECRET_FLAGS.has(flag),
    needed: false,
  };
  const shownAs = (text: string) => (base.secret ? 'set' : text);
  const byOption = given[one.attributeName()];
  const byVariable = variable === null ? undefined : env[variable];
  const byValue = isSecretFile && base.variable !== null ? env[base.variable] : undefined;

  const text = byOption === undefined ? byVariable : textOf(byOption);
  if (text !== undefined) {
    const name = byOption === undefined ? (variable ?? '') : flag;
    const read = understood(one, { variable: name, text, secret: base.secret && !isSecretFile });
    const shown: EffectiveSetting = isSecretFile
      ? { ...base, value: 'set', source: 'file', origin: `${text} (${name})` }
      : {
          ...base,
          value: shownAs(text),
          source: byOption === undefined ? 'environment' : 'option',
          origin: name,
        };
    return { shown, ...read };
  }
  if (byValue !== undefined) {
    const shown: EffectiveSetting = { ...base, value: 'set', source: 'environment', origin: base.variable };
    return { shown, value: undefined, problems: [] };
  }
  const byDefault = one.defaultValueDescription ?? one.defaultValue;
  const value = byDefault === undefined ? (one.isBoolean() ? 'false' : null) : textOf(byDefault);
  const shown: EffectiveSetting = { ...base, value, source: 'default', origin: null };
  return { shown, value: one.defaultValue, problems: [] };
}

const textOf = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value));

function understood(
  one: Option,
  { variable, text, secret }: { variable: string; text: string; secret: boolean },
): Pick<Found, 'value' | 'problems'> {
  try {
    return { value: settingFrom(one, { variable, text }), problems: [] };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const problem = secret ? error.message.replace(`=${text}`, '') : error.message;
    return { value: one.defaultValue, problems: [{ problem, fix: error.failure.hint }] };
  }
}
