/** `rewards receiver`: listens until a signal and prints a line for each delivery. */
import { listen } from '../../compose/listen.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError } from '../machine/errors.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import type { OutputFormat } from '../machine/output.ts';
import { resolveTarget, type Target } from '../service/target.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import { type Style, shortHash } from '../terminal/style.ts';
import {
  createReceiver,
  type ForwardDeps,
  type Forwarded,
  forwardSession,
  HEARD,
  type ReceiveDeps,
  type Received,
} from './receive-event.ts';
import { destinationOf, type Processor, processorIfRunning } from './webhooks/processor.ts';
import { registerEndpoint } from './webhooks/register-endpoint.ts';
import { secretFrom } from './webhooks/signatures.ts';

/** Longest wait for requests under way when the receiver stops. */
const DRAIN_MS = 2_000;

interface ReceiverOptions {
  port: number;
  bind: string;
  forwardTo?: string;
  secret?: string;
  retryDelays: number[];
  answerWithin: number;
  register: boolean;
}

export const runReceiver: Handler<ReceiverOptions> = async (context, options) => {
  const { runtime } = context;
  const processor = options.register ? await processorHere(context) : undefined;
  const secret = secretFrom(options.secret ?? (processor && (await destinationOf(processor, {})).secret));
  const forwardTo = paymentMintUrl(options.forwardTo ?? (await stack(context)).urls.events);
  const signals = catchStopSignals(runtime);
  const stopping = new AbortController();
  const answer = createReceiver({
    secret,
    // Signatures are made on the emulator's clock, which may be elsewhere.
    nowMs: processor ? processor.nowMs : async () => runtime.clock.now(),
    answerWithinMs: options.answerWithin,
    ...reporting(context, { url: forwardTo, retryDelaysMs: options.retryDelays, signal: stopping.signal }),
  });
  const { bind: bindAddress, port } = options;
  const listener = await listen({ fetch: answer }, { bindAddress, port, explicit: true });
  const endpoint =
    processor && (await registerEndpoint(processor, { url: listener.url, events: HEARD, secret }));
  const ready = { url: listener.url, forwardTo, endpoint: endpoint?.id ?? null };
  runtime.stdout.write(`${readyEntry(ready, context)}\n`);
  await signals.first;
  await endpoint?.remove();
  stopping.abort();
  await listener.close(DRAIN_MS);
  signals.release();
  return exitCodes.done;
};

/** The emulated processor of the stack that runs here, if one does. */
async function processorHere(context: CommandContext): Promise<Processor | undefined> {
  const processor = await processorIfRunning(context);
  return processor?.target.run ? processor : undefined;
}

/** Forwarding, with a line for each delivery and each pause. */
function reporting(
  { runtime, settings, style }: CommandContext,
  of: Pick<ForwardDeps, 'url' | 'retryDelaysMs' | 'signal'>,
): Pick<ReceiveDeps, 'forward' | 'onReceived'> {
  const write = (entry: string) => runtime.stdout.write(`${entry}\n`);
  const as = { format: settings.output, style: style.stdout, now: () => runtime.clock.now() };
  const deps: ForwardDeps = {
    ...of,
    timeoutMs: settings.timeout,
    fetch,
    sleep: (ms) => runtime.clock.sleep(ms, of.signal),
    onRetry: (told) => write(retryEntry(told, as)),
  };
  return {
    forward: (sessionId) => forwardSession(deps, sessionId),
    onReceived: (received) => write(receivedEntry(received, as)),
  };
}

/** The address of payment-mint; of a service's base its path is added. */
function paymentMintUrl(given: string): string {
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
  { url, forwardTo, endpoint }: { url: string; forwardTo: string; endpoint: string | null },
  { settings, style }: CommandContext,
): string {
  if (settings.output !== 'text') return JSON.stringify({ type: 'ready', url, forwardTo, endpoint });
  const { bold, green, dim } = style.stdout;
  const from = endpoint === null ? '' : ` events of the emulated processor`;
  return `${green('✓')} receives${from} at ${bold(url)}  ${dim(`paid sessions go to ${forwardTo}`)}`;
}

interface As {
  format: OutputFormat;
  style: Style;
  now: () => number;
}

/** A line for people, or the JSON of a stream's entry. */
function receivedEntry(received: Received, as: As): string {
  const at = new Date(as.now()).toISOString();
  if (as.format !== 'text') return JSON.stringify({ type: 'delivery', at, ...received });
  const { dim, green, yellow, red } = as.style;
  const paint = received.status < 400 ? green : received.status < 500 ? yellow : red;
  const head = [dim(at.slice(11, 19)), paint(String(received.status))];
  if (received.what === 'refused') return [...head, yellow('refused'), received.error].join('  ');
  const { type, id, objectId } = received.event;
  return [...head, type, dim(id), ...(objectId ? [dim(objectId)] : []), meaning(received, as.style)].join(
    '  ',
  );
}

function retryEntry(told: Parameters<ForwardDeps['onRetry']>[0], as: As): string {
  const at = new Date(as.now()).toISOString();
  if (as.format !== 'text') return JSON.stringify({ type: 'retry', at, ...told });
  const { dim, yellow } = as.style;
  const why = told.status === null ? told.message : String(told.status);
  const text = `payment-mint: ${why}; again in ${formatDuration(told.inMs)}`;
  return [dim(at.slice(11, 19)), yellow('retry'), dim(told.sessionId), text].join('  ');
}

function meaning(received: Exclude<Received, { what: 'refused' }>, style: Style): string {
  if (received.what === 'logged') return style.dim('only logged');
  if (received.what === 'ignored') return style.dim('of no interest here');
  if (received.what === 'forwarding')
    return style.yellow('still asking payment-mint; the processor sends it again');
  const again = received.repeated ? style.dim(' (seen before)') : '';
  return `${fate(received.forwarded, style)}${again}`;
}

function fate(
  { outcome, status, tries, message, transactionHash, alreadyProcessed }: Forwarded,
  style: Style,
): string {
  const hash = transactionHash === null ? '' : ` tx ${shortHash(transactionHash)}`;
  if (outcome === 'done') return `${style.green(alreadyProcessed ? 'minted before' : 'minted')}${hash}`;
  if (outcome === 'refused') return `${style.yellow('payment-mint refused')}: ${message}`;
  const why = status === null ? message : `${status} ${message}`.trim();
  return `${style.red('payment-mint failed')} ${tries} times: ${why}`;
}
