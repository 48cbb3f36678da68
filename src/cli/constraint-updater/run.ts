/** `rewards constraint-updater`: listens until a signal. */
import { settings as limits } from '../../compose/config.ts';
import { listen } from '../../compose/listen.ts';
import type { Handler } from '../machine/context.ts';
import { usageError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { readApiKey, readSecret } from '../machine/read-input.ts';
import { resolveTarget } from '../service/target.ts';
import { createInvalidationForwarder } from '../talk/constraint-updater.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';

/** Longest wait for requests under way at the stop. */
const DRAIN_MS = 2_000;

interface UpdaterOptions {
  port: number;
  bind: string;
  forwardTo?: string;
  apiKeyFile?: string;
  callerKeyFile?: string;
}

export const runConstraintUpdater: Handler<UpdaterOptions> = async (context, options) => {
  const { runtime, settings } = context;
  const { apiKeyFile, callerKeyFile, bind: bindAddress, port } = options;
  const given = await readApiKey(runtime, apiKeyFile);
  const stack = given && options.forwardTo ? undefined : await resolveTarget(context);
  const apiKey = given ?? stack?.run?.brands[0]?.apiKey;
  if (!apiKey)
    throw usageError(
      "The brand's API key is missing.",
      'Name its file with --api-key-file, or set REWARDS_API_KEY.',
    );
  const base = options.forwardTo ?? stack?.urls.events ?? '';
  const url = new URL('/constraint-updater/invalidate-external-api', base).href;
  const callerKey = callerKeyFile === undefined ? undefined : await readSecret(runtime, callerKeyFile);
  const signals = catchStopSignals(runtime);
  const answer = createInvalidationForwarder({
    url,
    apiKey,
    callerKey,
    fetch,
    bodyLimitBytes: limits.bodyLimitBytes,
    timeoutMs: settings.timeout,
  });
  const listener = await listen({ fetch: answer }, { bindAddress, port, explicit: true });
  const at = `${listener.url}/invalidate-external-api`;
  const ready = { type: 'ready', url: listener.url, forwardTo: url, callerKey: callerKey !== undefined };
  const line = `takes invalidations at ${at} and passes them on to ${url}`;
  runtime.stdout.write(`${settings.output === 'json' ? JSON.stringify(ready) : line}\n`);
  await signals.first;
  await listener.close(DRAIN_MS);
  signals.release();
  return exitCodes.done;
};
