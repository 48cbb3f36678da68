/** `rewards config show`: the settings that a start would use. */

import { silentLog } from '../../lib/log.ts';
import type { Setting } from '../../lib/setting.ts';
import { unknownVariables } from '../../lib/setting.ts';
import {
  type EffectiveSetting,
  effectiveSettings,
  type SettingProblem,
} from '../config/effective-settings.ts';
import type { Handler, Runtime } from '../machine/context.ts';
import { problemOf } from '../machine/errors.ts';
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
