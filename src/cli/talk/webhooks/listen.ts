/** `rewards webhooks listen`: passes the emulated processor's events on, byte for byte, until a signal. */
import { listen } from '../../../compose/listen.ts';
import { stopwatch } from '../../../lib/timers.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { exitCodes } from '../../machine/exit-codes.ts';
import { isObject } from '../../service/assignments.ts';
import { catchStopSignals } from '../../terminal/stop-signals.ts';
import { destinationOf, findProcessor } from './processor.ts';
import { readBody } from './read-signed-event.ts';
import { registerEndpoint } from './register-endpoint.ts';
import { type Heard, heardEntry } from './view.ts';

const DRAIN_MS = 2_000;

interface ListenOptions {
  forwardTo?: string;
  events?: string[];
  port: number;
  printSecret?: boolean;
}

export const listenForEvents: Handler<ListenOptions> = async (context, options) => {
  const processor = await findProcessor(context);
  // The stack's own secret: the same for every run, and the one that receivers here have anyway.
  const { secret } = await destinationOf(processor, {});
  if (options.printSecret) return { ok: true, data: { secret }, text: () => secret };
  const { forwardTo } = options;
  const { runtime, settings, style } = context;
  const signals = catchStopSignals(runtime);
  const write = (text: string) => runtime.stdout.write(`${text}\n`);
  const listener = await listen(
    {
      async fetch(request: Request) {
        const body = await readBody(request);
        if (!body) return new Response(null, { status: 413 });
        const heard = await passOn(context, { request, body, forwardTo });
        write(heardEntry(heard, { format: settings.output, style: style.stdout }));
        // Without an answer of the receiver the processor is to send it again.
        return new Response(null, { status: heard.status ?? (forwardTo === undefined ? 200 : 502) });
      },
    },
    { bindAddress: '127.0.0.1', port: options.port, explicit: true },
  );
  const endpoint = await registerEndpoint(processor, { url: listener.url, events: options.events, secret });
  write(
    settings.output === 'text'
      ? `${style.stdout.green('✓')} listens for ${options.events?.join(', ') ?? 'all events'}  ${style.stdout.dim(`${forwardTo === undefined ? 'and only prints them' : `to ${forwardTo}`}, signed with ${secret}`)}`
      : JSON.stringify({
          type: 'ready',
          forwardTo: forwardTo ?? null,
          secret,
          endpoint: endpoint.id,
          events: options.events ?? ['*'],
        }),
  );
  await signals.first;
  await endpoint.remove();
  await listener.close(DRAIN_MS);
  signals.release();
  return exitCodes.done;
};

/** The same bytes under the same signature; the answer's status. */
async function passOn(
  { runtime, settings }: CommandContext,
  { request, body, forwardTo }: { request: Request; body: Uint8Array; forwardTo: string | undefined },
): Promise<Heard> {
  const at = new Date(runtime.clock.now()).toISOString();
  if (forwardTo === undefined) return { at, ...namesIn(body), status: null, durationMs: null };
  const elapsedMs = stopwatch();
  const headers = {
    'content-type': request.headers.get('content-type') ?? 'application/json',
    'stripe-signature': request.headers.get('stripe-signature') ?? '',
  };
  let status: number | null;
  try {
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(settings.timeout),
    } as const;
    const response = await fetch(forwardTo, init);
    await response.body?.cancel();
    status = response.status;
  } catch {
    status = null;
  }
  return { at, ...namesIn(body), status, durationMs: Math.round(elapsedMs()) };
}

function namesIn(body: Uint8Array): { eventId: string; eventType: string } {
  try {
    const event: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (isObject(event)) return { eventId: String(event.id), eventType: String(event.type) };
  } catch {
    // It is passed on all the same: the receiver shall see what came.
  }
  return { eventId: '', eventType: 'no event' };
}
