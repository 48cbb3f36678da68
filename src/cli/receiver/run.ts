/** `rewards receiver`: listens until a signal and prints a line for each delivery. */
import { listen } from '../../compose/listen.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import { resolveTarget, type Target } from '../service/target.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import { secretFrom } from '../webhooks/signatures/secret.ts';
import { type ForwardDeps, forwardSession } from './forward-session.ts';
import { createReceiver } from './receive-event.ts';
import { receivedEntry, retryEntry } from './view.ts';

/** Longest wait for requests under way when the receiver stops. */
const DRAIN_MS = 2_000;

interface ReceiverOptions {
  port: number;
  bind: string;
  forwardTo?: string;
  secret?: string;
  retryDelays: number[];
  answerWithin: number;
}

export const runReceiver: Handler<ReceiverOptions> = async (context, options) => {
  const { runtime, settings, style } = context;
  const secret = secretFrom(options.secret);
  const forwardTo = paymentMintUrl(options.forwardTo) ?? paymentMintUrl((await stack(context)).urls.events);
  const signals = catchStopSignals(runtime);
  const stopping = new AbortController();
  const write = (entry: string) => runtime.stdout.write(`${entry}\n`);
  const as = { format: settings.output, style: style.stdout, now: () => runtime.clock.now() };

  const deps: ForwardDeps = {
    url: forwardTo,
    retryDelaysMs: options.retryDelays,
    timeoutMs: settings.timeout,
    fetch,
    sleep: (ms) => runtime.clock.sleep(ms, stopping.signal),
    onRetry: (told) => write(retryEntry(told, as)),
    signal: stopping.signal,
  };
  const answer = createReceiver({
    secret,
    nowMs: async () => runtime.clock.now(),
    answerWithinMs: options.answerWithin,
    forward: (sessionId) => forwardSession(deps, sessionId),
    onReceived: (received) => write(receivedEntry(received, as)),
  });
  const listener = await listen(
    { fetch: answer },
    { bindAddress: options.bind, port: options.port, explicit: true },
  );
  write(readyEntry({ url: listener.url, forwardTo }, context));
  await signals.first;
  stopping.abort();
  await listener.close(DRAIN_MS);
  signals.release();
  return exitCodes.done;
};

/** The address of payment-mint; of a service's base its path is added. */
function paymentMintUrl(given: string): string;
function paymentMintUrl(given: string | undefined): string | undefined;
function paymentMintUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = '/rewards-api/payment-mint';
  return url.href;
}

/** The stack that runs here; what to give in its place where none does. */
async function stack(context: CommandContext): Promise<Target> {
  try {
    return await resolveTarget(context);
  } catch (error) {
    if (!(error instanceof CliError) || error.problem.code !== 'E_NOT_RUNNING') throw error;
    const fix = 'Start a stack with `rewards serve`, or name payment-mint with --forward-to <url>.';
    throw new CliError('E_NOT_RUNNING', { ...error.problem, fix });
  }
}

function readyEntry(
  { url, forwardTo }: { url: string; forwardTo: string },
  { settings, style }: CommandContext,
): string {
  if (settings.output !== 'text') return JSON.stringify({ type: 'ready', url, forwardTo });
  const { bold, green, dim } = style.stdout;
  return `${green('✓')} receives at ${bold(url)}  ${dim(`paid sessions go to ${forwardTo}`)}`;
}
