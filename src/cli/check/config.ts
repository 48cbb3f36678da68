/** `rewards config show`: the settings that a start would use. */

import type { Environment } from '../../compose/env.ts';
import { silentLog } from '../../lib/log.ts';
import { namesOf, onOff, type Setting, unknownVariables } from '../../lib/setting.ts';
import type { Handler, Runtime } from '../machine/context.ts';
import { CliError, problemOf } from '../machine/errors.ts';
import { settingFrom, settingOption } from '../machine/options.ts';
import type { CommandResult } from '../machine/output.ts';
import type { Style } from '../terminal/style.ts';
import { knownVariables } from './known-variables.ts';

/** `given` are the options of the command line, as text. */
export const showConfig: Handler<{
  name: string;
  rows: readonly Setting<unknown>[];
  given: Record<string, unknown>;
}> = async (context, { name, rows, given }) => {
  const { runtime } = context;
  const found = effectiveSettings(rows, { given, env: runtime.env });
  const unknown = unknownVariables(runtime.env, knownVariables(context));
  const ofStart = name === 'start' ? await problemsOfStart(runtime, found.values) : [];
  const missing = new Set(ofStart.flatMap(({ problem }) => /^(\S+) is not set$/.exec(problem)?.[1] ?? []));
  const settings = found.settings.map((one) => ({ ...one, needed: missing.has(one.variable ?? '') }));
  const problems: SettingProblem[] = [
    ...found.problems,
    ...ofStart.filter(({ problem }) => !/ is not set$/.test(problem)),
    ...unknown.map(({ message, fix }) => ({ problem: message, fix })),
  ];
  const data = { command: name, settings, problems };
  const text: NonNullable<CommandResult['text']> = (style) =>
    given.origin === true ? originLines(data) : settingsTable(data, style);
  if (problems.length === 0) return { ok: true, data, env: environmentOf(settings), text };
  const error = problemOf('E_SETTINGS', {
    message: problems.map(({ problem }) => problem).join('\n'),
    fix: problems.map(({ fix }) => fix).join('\n'),
    details: { problems },
  });
  return { ok: false, error, data, text };
};

/** The problems that `start` would report about missing and malformed settings. */
async function problemsOfStart(
  runtime: Runtime,
  options: Record<string, unknown>,
): Promise<SettingProblem[]> {
  const { readStartConfig } = await import('../../production/start-config.ts');
  const { PreconditionError } = await import('../../lib/failures/precondition.ts');
  try {
    await readStartConfig({ ...runtime, options, log: silentLog });
    return [];
  } catch (error) {
    if (!(error instanceof PreconditionError)) throw error;
    const { message, fix, details } = error as typeof error & {
      details?: { problems: { message: string; fix: string }[] };
    };
    return (details?.problems ?? [{ message, fix }]).map((one) => ({ problem: one.message, fix: one.fix }));
  }
}

/** Every setting that was set, as a variable that would set it again; without secrets. */
const environmentOf = (settings: EffectiveSetting[]) =>
  Object.fromEntries(
    settings.flatMap(({ variable, value, source, secret }) =>
      variable === null || secret || source === 'default' ? [] : [[variable, value]],
    ),
  );

/** As `git config --show-origin` has them; what is wrong with them comes last. */
const originLines = ({
  settings,
  problems,
}: {
  settings: readonly EffectiveSetting[];
  problems: readonly SettingProblem[];
}): string =>
  [
    ...settings.map(
      ({ setting, value, source, origin }) =>
        `${origin === null ? source : `${source}:${origin}`}\t${setting}=${value ?? ''}`,
    ),
    ...problems.map(({ problem, fix }) => `problem\t${problem}: ${fix}`),
  ].join('\n');

/** For people: value and origin of each setting, then what is wrong with them. */
function settingsTable(
  { settings, problems }: { settings: readonly EffectiveSetting[]; problems: readonly SettingProblem[] },
  style: Style,
): string {
  const nameWidth = Math.max(...settings.map(({ setting }) => setting.length));
  const valueWidth = Math.max(...settings.map(({ value }) => (value ?? 'not set').length));
  const rows = settings.map(({ setting, value, source, origin, needed }) => {
    const shown = (value ?? 'not set').padEnd(valueWidth);
    const from = needed
      ? style.yellow('needed')
      : style.dim(origin === null ? source : `${source} ${origin}`);
    return `${setting.padEnd(nameWidth)}  ${value === null ? style.dim(shown) : shown}  ${from}`;
  });
  const wrong = problems.map(({ problem, fix }) => `${style.red('problem')}  ${problem}: ${fix}`);
  return [...rows, ...wrong].join('\n');
}

interface EffectiveSetting {
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

interface SettingProblem {
  problem: string;
  fix: string;
}

/** Options of the command line as text, under their attribute names, and the environment. */
interface Given {
  given: Readonly<Record<string, unknown>>;
  env: Environment;
}

function effectiveSettings(rows: readonly Setting<unknown>[], from: Given) {
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
