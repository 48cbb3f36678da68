/** What the receiver does with one request of the payment processor. */
import { within } from '../../lib/timers.ts';
import { isObject } from '../service/assignments.ts';
import { readBody, readSignedEvent, type SignedEvent } from './webhooks/read-signed-event.ts';

/** What was done with a delivery; one log line. */
export type Received =
  | { what: 'refused'; status: number; error: string }
  | { what: 'logged'; status: number; event: SignedEvent }
  | { what: 'ignored'; status: number; event: SignedEvent }
  | { what: 'forwarding'; status: number; event: SignedEvent }
  | { what: 'forwarded'; status: number; event: SignedEvent; repeated: boolean; forwarded: Forwarded };

export interface ReceiveDeps {
  secret: string;
  /** On the clock by which the processor signs. */
  nowMs: () => Promise<number>;
  /** A delivery that takes longer is answered 503, and forwarding goes on. */
  answerWithinMs: number;
  forward: (sessionId: string) => Promise<Forwarded>;
  onReceived: (received: Received) => void;
}

/** Their session goes to payment-mint. */
const PAID = new Set(['checkout.session.completed', 'checkout.session.async_payment_succeeded']);
/** Selected at the processor beside them. Contract: a receiver may only log it. */
const LOGGED = new Set(['payment_intent.succeeded']);

/** What the receiver is for: it registers for these. */
export const HEARD = [...PAID, ...LOGGED];

/** How many events are remembered. Payment-mint knows an older one by its session. */
const REMEMBERED_MAX = 10_000;

/**
 * The handler of all requests. 200 is said when payment-mint has answered, so that an event whose forwarding fails, or
 * that dies with this process, comes again from the processor, which keeps it. While forwarding goes on, later
 * deliveries of the same event join it.
 */
export function createReceiver(deps: ReceiveDeps): (request: Request) => Promise<Response> {
  const forwards = new Map<string, Promise<Forwarded>>();

  async function take(event: SignedEvent, sessionId: string): Promise<Received> {
    const known = forwards.get(event.id);
    const forwarding = known ?? start(event.id, sessionId);
    const forwarded = await within(deps.answerWithinMs, forwarding);
    if (!forwarded) return { what: 'forwarding', status: 503, event };
    const status = forwarded.outcome === 'failed' ? 503 : 200;
    return { what: 'forwarded', status, event, repeated: known !== undefined, forwarded };
  }

  function start(eventId: string, sessionId: string): Promise<Forwarded> {
    const forwarding = deps.forward(sessionId);
    forwards.set(eventId, forwarding);
    const [oldest] = forwards.keys();
    if (forwards.size > REMEMBERED_MAX && oldest !== undefined) forwards.delete(oldest);
    // What was not minted is asked for again at the next delivery: somebody may have put right what was in the way.
    void forwarding.then(({ outcome }) => outcome !== 'done' && forwards.delete(eventId));
    return forwarding;
  }

  async function receive(request: Request): Promise<Received> {
    if (request.method !== 'POST') return { what: 'refused', status: 405, error: 'events come by POST' };
    const body = await readBody(request).catch(() => null);
    if (body === null) return { what: 'refused', status: 400, error: 'the body broke off' };
    if (!body) return { what: 'refused', status: 413, error: 'the body is too long for an event' };
    const signature = request.headers.get('stripe-signature');
    const reading = readSignedEvent({ body, signature }, { secret: deps.secret, nowMs: await deps.nowMs() });
    if ('error' in reading) return { what: 'refused', ...reading };
    const { event } = reading;
    if (LOGGED.has(event.type)) return { what: 'logged', status: 200, event };
    if (!PAID.has(event.type)) return { what: 'ignored', status: 200, event };
    if (event.objectId === null) return { what: 'refused', status: 400, error: 'the event names no session' };
    return take(event, event.objectId);
  }

  return async (request) => {
    const received = await receive(request);
    deps.onReceived(received);
    const { status, what } = received;
    const headers = status === 405 ? { allow: 'POST' } : undefined;
    const answer = what === 'refused' ? { error: received.error } : { received: status === 200 };
    return Response.json(answer, { status, ...(headers && { headers }) });
  };
}

/** What became of a session. */
export interface Forwarded {
  /** `done`: minted, now or before. `refused`: the same request never passes. `failed`: it may pass later. */
  outcome: 'done' | 'refused' | 'failed';
  /** Of the last try; null without an answer. */
  status: number | null;
  tries: number;
  message: string;
  transactionHash: string | null;
  alreadyProcessed: boolean;
}

export interface ForwardDeps {
  /** Address of payment-mint. */
  url: string;
  /** Pauses before the second and each later try. Contract: payment-mint, callers retry on 500. */
  retryDelaysMs: readonly number[];
  /** Longest wait for an answer of payment-mint. */
  timeoutMs: number;
  fetch: typeof fetch;
  sleep: (ms: number) => Promise<void>;
  /** Told before each pause. */
  onRetry: (told: { sessionId: string; status: number | null; message: string; inMs: number }) => void;
  signal: AbortSignal;
}

export async function forwardSession(deps: ForwardDeps, sessionId: string): Promise<Forwarded> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(deps, sessionId);
    const inMs = deps.retryDelaysMs[tries - 1];
    if (answer.outcome !== 'failed' || inMs === undefined || deps.signal.aborted) return { ...answer, tries };
    deps.onRetry({ sessionId, status: answer.status, message: answer.message, inMs });
    await deps.sleep(inMs);
  }
}

async function askOnce(
  { url, timeoutMs, fetch, signal }: ForwardDeps,
  sessionId: string,
): Promise<Omit<Forwarded, 'tries'>> {
  const nothing = { transactionHash: null, alreadyProcessed: false };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ sessionId }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const body = parsed(await response.text());
    const { status } = response;
    const message = typeof body.message === 'string' ? body.message : '';
    const hash = typeof body.txHash === 'string' ? body.txHash : null;
    if (status === 200 && body.success === true) {
      const alreadyProcessed = body.alreadyProcessed === true;
      return { outcome: 'done', status, message, transactionHash: hash, alreadyProcessed };
    }
    // Too many requests, and answers of proxies in between, say nothing about the session.
    const isFinal =
      status >= 400 && status < 500 && ![408, 425, 429].includes(status) && body.success === false;
    return { outcome: isFinal ? 'refused' : 'failed', status, message, ...nothing };
  } catch (error) {
    return { outcome: 'failed', status: null, message: connectionTrouble(error), ...nothing };
  }
}

function connectionTrouble(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  if (typeof code === 'string') return code;
  return error instanceof Error && error.name === 'TimeoutError'
    ? 'no answer in time'
    : 'the connection broke off';
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
