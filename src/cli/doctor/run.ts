/** `rewards doctor`: one line for each problem. */
import type { Finding } from '../../production/doctor.ts';
import { type LedgerOptions, ledgerSecrets } from '../../production/start-input.ts';
import { knownVariables } from '../config/known-variables.ts';
import type { CommandContext } from '../machine/context.ts';
import { CliError, failureOf } from '../machine/errors.ts';
import type { CommandResult } from '../machine/output.ts';
import type { Style } from '../machine/style.ts';

export async function doctor(
  context: CommandContext,
  options: LedgerOptions & { check: string[] },
): Promise<CommandResult> {
  const { runtime, settings } = context;
  const { checks } = await import('../../production/doctor.ts');
  const names = options.check.length > 0 ? options.check : Object.keys(checks);
  const unknown = names.find((name) => !Object.hasOwn(checks, name));
  if (unknown !== undefined) {
    throw new CliError('E_USAGE', {
      message: `There is no check ${unknown}.`,
      hint: `There are: ${Object.keys(checks).join(', ')}.`,
    });
  }
  const { database, nodes } = ledgerSecrets(options);
  const input = {
    cwd: runtime.cwd,
    env: runtime.env,
    variables: knownVariables(runtime),
    database,
    nodes,
    allowSqlite: options.allowSqlite,
    nowMs: () => runtime.clock.now(),
  };
  const findings: Finding[] = [];
  for (const name of names) findings.push(...((await checks[name]?.(input)) ?? []));
  const problems = findings.filter(({ fix }) => fix !== undefined);
  const data = { ok: problems.length === 0, findings };
  const shown = settings.quiet ? problems : findings;
  if (data.ok) return { ok: true, data, text: (style) => shown.map((one) => line(one, style)).join('\n') };
  return {
    ok: false,
    error: failureOf('E_PROBLEMS', { details: { problems } }),
    data,
    text: (style) => shown.map((one) => line(one, style)).join('\n'),
  };
}

export async function healthcheck({ runtime }: CommandContext): Promise<CommandResult> {
  const { isHealthy } = await import('../../production/doctor.ts');
  const { healthy, message } = await isHealthy({
    cwd: runtime.cwd,
    adminHost: runtime.env.REWARDS_ADMIN_HOST ?? '127.0.0.1',
    adminPort: Number(runtime.env.REWARDS_ADMIN_PORT ?? 9464),
  });
  const data = { ok: healthy, message };
  if (healthy) return { ok: true, data, text: () => message };
  return { ok: false, error: failureOf('E_PROBLEMS', { message, hint: 'Look at its log.' }), data };
}

const line = ({ check, message, fix }: Finding, style: Style) =>
  fix === undefined
    ? `${style.green('ok')}       ${check.padEnd(10)} ${message}`
    : `${style.red('problem')}  ${check.padEnd(10)} ${message}: ${fix}`;
