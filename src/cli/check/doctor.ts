/** `rewards doctor`: one line for each problem. */
import { namesOf, type Setting } from '../../lib/setting.ts';
import type { Observation } from '../../production/doctor/observation.ts';
import { startSettings } from '../../production/settings.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { problemOf, usageError } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import { type LedgerOptions, ledgerSecrets } from '../machine/shared-options.ts';
import type { Style } from '../terminal/style.ts';
import { knownVariables } from './known-variables.ts';

export const doctor: Handler<LedgerOptions & { check: string[] }> = async (context, options) => {
  const { runtime, settings } = context;
  const { checks } = await import('../../production/doctor/doctor.ts');
  const names = options.check.length > 0 ? options.check : Object.keys(checks);
  const unknown = names.find((name) => !Object.hasOwn(checks, name));
  if (unknown !== undefined) {
    throw usageError(
      `The check ${unknown} does not exist.`,
      `The checks are ${Object.keys(checks).join(', ')}.`,
    );
  }
  const { database, nodes } = ledgerSecrets(options);
  const input = {
    cwd: runtime.cwd,
    env: runtime.env,
    variables: knownVariables(context),
    database,
    nodes,
    allowSqlite: options.allowSqlite,
    nowMs: () => runtime.clock.now(),
  };
  const observations: Observation[] = [];
  for (const name of names) observations.push(...((await checks[name]?.(input)) ?? []));
  const problems = observations.filter(({ fix }) => fix !== undefined);
  const data = { ok: problems.length === 0, findings: observations };
  const shown = settings.quiet ? problems : observations;
  if (data.ok) return { ok: true, data, text: (style) => shown.map((one) => line(one, style)).join('\n') };
  return {
    ok: false,
    error: problemOf('E_PROBLEMS', { details: { problems } }),
    data,
    text: (style) => shown.map((one) => line(one, style)).join('\n'),
  };
};

export async function healthcheck({ runtime }: CommandContext): Promise<CommandResult> {
  const { isHealthy } = await import('../../production/doctor/doctor.ts');
  const { adminBindAddress, adminPort } = startSettings;
  const text = (row: Setting<unknown>) => runtime.env[namesOf(row).variable] ?? row.default ?? '';
  const { healthy, message } = await isHealthy({
    cwd: runtime.cwd,
    bindAddress: text(adminBindAddress),
    port: Number(text(adminPort)),
  });
  const data = { ok: healthy, message };
  if (healthy) return { ok: true, data, text: () => message };
  return { ok: false, error: problemOf('E_PROBLEMS', { message, fix: 'Look at its log.' }), data };
}

const line = ({ check, message, fix }: Observation, style: Style) =>
  fix === undefined
    ? `${style.green('ok')}       ${check.padEnd(10)} ${message}`
    : `${style.red('problem')}  ${check.padEnd(10)} ${message}: ${fix}`;
