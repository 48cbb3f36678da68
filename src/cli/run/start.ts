/** `rewards start`: production, from its checks to a clean stop. */

import type { LogLevel } from '../../lib/log.ts';
import { unknownVariables } from '../../lib/setting.ts';
import { stopwatch, within } from '../../lib/timers.ts';
import type { Production, ProductionReady } from '../../production/create-production.ts';
import { knownVariables } from '../check/known-variables.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { manifest } from '../machine/manifest.ts';
import type { CommandResult } from '../machine/output.ts';
import { asideOf, createProgress } from '../terminal/progress.ts';
import { catchStopSignals, interruptedBy } from '../terminal/stop-signals.ts';

/** Time for leases and connections after requests have been drained. */
const STOP_BEYOND_DRAIN_MS = 5_000;

export const start: Handler<Record<string, unknown> & { check?: boolean; logLevel: LogLevel }> = async (
  context,
  options,
) => {
  const { runtime, settings } = context;
  const elapsedMs = stopwatch();
  const { productionLog } = await import('../../production/log.ts');
  const { readStartConfig } = await import('../../production/start-config.ts');
  const { createProduction } = await import('../../production/create-production.ts');
  const { processName } = await import('../../production/pick-adapters.ts');
  const progress = createProgress(context);
  const log = productionLog({
    write: asideOf(progress, context).runtime.stderr.write,
    level: options.check ? 'silent' : options.logLevel,
    now: () => runtime.clock.now(),
    about: { process: processName(), program: manifest.version },
  });
  const config = await readStartConfig({ ...runtime, options, log });
  for (const { message, fix } of unknownVariables(runtime.env, knownVariables(context))) {
    if (options.check) context.note(`warning: ${message}: ${fix}`);
    else log.warn({ fix }, message);
  }
  let isStarting = true;
  const production = createProduction(config, ({ block, of }) => {
    // Where there is no bar, the log tells it.
    if (isStarting && progress.isBar) progress.show('reading', block, of);
  });
  if (options.check) return checked(context, production);

  const signals = catchStopSignals(runtime);
  const stopCapMs = config.drainTimeoutMs + STOP_BEYOND_DRAIN_MS;
  const starting = production.start();
  const ready = await Promise.race([starting, signals.first]).catch(async (error: unknown) => {
    progress.clear();
    await within(
      STOP_BEYOND_DRAIN_MS,
      production.stop().catch(() => undefined),
    );
    throw temporary(error);
  });
  isStarting = false;
  progress.clear();
  if (typeof ready === 'string') {
    starting.catch(() => undefined);
    await within(
      STOP_BEYOND_DRAIN_MS,
      production.stop().catch(() => undefined),
    );
    return interruptedBy(ready);
  }
  if (settings.output !== 'text') runtime.stdout.write(`${JSON.stringify({ type: 'ready', ...ready })}\n`);
  log.info(readyFields(ready, elapsedMs()), 'ready');

  const signal = await signals.first;
  log.info({ signal }, 'stopping');
  const cut = signals.second.then(() => false);
  const stopped = production.stop().then(
    () => true,
    (error: unknown) => {
      log.error({ error: String(error) }, 'not everything stopped cleanly');
      return false;
    },
  );
  const clean = (await Promise.race([within(stopCapMs, stopped), cut])) ?? false;
  log.info({ clean }, 'stopped');
  return clean ? exitCodes.done : interruptedBy(signal);
};

const readyFields = ({ workers, chain, contracts }: ProductionReady, tookMs: number) => ({
  workers: workers.join(','),
  chainId: chain.id,
  escrow: contracts.escrow,
  tookMs: Math.round(tookMs),
});

async function checked(context: CommandContext, production: Production): Promise<CommandResult> {
  const { problems, warnings } = await production.check();
  for (const { message, fix } of warnings) context.note(`warning: ${message}: ${fix}`);
  if (problems.length === 0) {
    const data = { ok: true, problems };
    return { ok: true, data, text: (style) => style.green('every check passed; ready to start') };
  }
  const { startRefused } = await import('../../production/checks.ts');
  throw startRefused(problems);
}

/** A dependency that goes away between the checks and readiness: the supervisor should start the process again. */
function temporary(error: unknown): unknown {
  if (!(error instanceof Error) || 'code' in error) return error;
  if (!/^Rpc(?:Unreachable|Answer|TooLarge)Error$/.test(error.name)) return error;
  return Object.assign(error, { code: 'E_START_RPC' });
}
