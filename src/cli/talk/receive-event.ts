/** What the receiver does with one request of the payment processor. */
import { within } from '../../lib/timers.ts';
import type { Forwarded } from '../receiver/forward-session.ts';
import { readBody } from '../webhooks/read-body.ts';
import { readSignedEvent, type SignedEvent } from './webhooks/read-signed-event.ts';

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
