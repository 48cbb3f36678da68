/** Stripe, through its official package: in production, and in the emulator against its own processor. */
import type { Stripe } from 'stripe';
import type { Clock } from '../lib/clock.ts';
import { delay } from '../lib/timers.ts';
import {
  EVENT_TOLERANCE_MS,
  EventProblem,
  type EventSubject,
  type PaymentProcessor,
  type ProcessorEvent,
  ProcessorFailure,
  type ProcessorSession,
} from './processor.ts';
import { readSignature } from './stripe-signature.ts';

/** The version of Stripe's API that this adapter is written for, whatever the account's own is. */
const API_VERSION = '2026-10-28.endive';

/** Stripe's largest page. */
const PAGE = 100;

export interface StripeConfig {
  secretKey: string;
  /** Verifies events; two while a new one takes over. */
  webhookSecrets: readonly string[];
  /** Which mode the keys are of. */
  livemode: boolean;
  /** Where the API answers, asked when it is needed first; Stripe's own host when absent. */
  address?: (() => { host: string; port: number; protocol: 'http' | 'https' }) | undefined;
  /** One try of one request. */
  timeoutMs: number;
  /** Further tries after an outage or a lost answer, made by the package with the same idempotency key. */
  retriesMax: number;
  /** The pauses after an answer that says that too many requests were sent; after the last, the call fails. */
  limitedPausesMs: readonly number[];
}

/** `clock` dates the events that arrive. */
export function createStripe(
  { clock }: { clock: Pick<Clock, 'now'> },
  config: StripeConfig,
): PaymentProcessor {
  // Loaded when it is needed: a service without payments never pays for reading the package.
  let loading: Promise<Stripe> | undefined;
  const client = () => {
    loading ??= load(config).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const ask = async <T>(work: (stripe: Stripe) => Promise<T>): Promise<T> => {
    const stripe = await client();
    return waitingOut(config.limitedPausesMs, () => work(stripe));
  };
  return {
    livemode: config.livemode,
    createSession: (request) =>
      ask(async ({ checkout }) =>
        sessionOf(await checkout.sessions.create(sessionParams(request), { idempotencyKey: request.id })),
      ),
    async findSession(id) {
      try {
        return await ask(async ({ checkout }) =>
          sessionOf(await checkout.sessions.retrieve(id, { expand: [chargeOf('')] })),
        );
      } catch (error) {
        if (error instanceof ProcessorFailure && error.code === 'resource_missing') return undefined;
        throw error;
      }
    },
    sessionsSince: (ms) =>
      pages(sessionOf, (after) =>
        ask(({ checkout }) =>
          checkout.sessions.list({ created: since(ms), limit: PAGE, expand: [chargeOf('data.')], ...after }),
        ),
      ),
    eventsSince: (ms) =>
      pages(eventOf, (after) =>
        ask(({ events }) => events.list({ created: since(ms), limit: PAGE, types: [...TYPES], ...after })),
      ),
    readEvent: async (sent) => readEvent(await client(), sent, { config, nowMs: clock.now() }),
  };
}

async function load(config: StripeConfig): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  return new Stripe(config.secretKey, {
    apiVersion: API_VERSION,
    timeout: config.timeoutMs,
    maxNetworkRetries: config.retriesMax,
    telemetry: false,
    ...config.address?.(),
  });
}

/** Refunds and disputes stand on the charge, so a look at a session shows them before their events arrive. */
const chargeOf = (prefix: string) => `${prefix}payment_intent.latest_charge`;
const since = (ms: number) => ({ gte: Math.floor(ms / 1_000) });

const sessionParams = (
  request: Parameters<PaymentProcessor['createSession']>[0],
): Stripe.Checkout.SessionCreateParams => ({
  mode: 'payment',
  client_reference_id: request.id,
  customer_email: request.userEmail,
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: request.currency,
        unit_amount: request.amount,
        product_data: { name: request.productName },
      },
    },
  ],
  // What is paid must be what was planned: Stripe converts to the buyer's currency otherwise.
  adaptive_pricing: { enabled: false },
  metadata: request.metadata,
  payment_intent_data: { metadata: request.metadata },
  success_url: request.successUrl,
  cancel_url: request.cancelUrl,
});

function sessionOf(session: Stripe.Checkout.Session): ProcessorSession {
  const { payment_intent: intent } = session;
  const charge = typeof intent === 'object' ? intent?.latest_charge : undefined;
  const settled = typeof charge === 'object' ? charge : undefined;
  return {
    id: session.id,
    checkoutId: session.client_reference_id,
    url: session.url,
    status: session.status,
    paymentStatus: session.payment_status,
    paymentIntentId: idOf(intent) ?? null,
    amountTotal: session.amount_total,
    currency: session.currency,
    livemode: session.livemode,
    metadata: session.metadata ?? {},
    refundedAmount: settled?.amount_refunded ?? 0,
    disputed: settled?.disputed ?? false,
    createdAtMs: session.created * 1_000,
    expiresAtMs: session.expires_at * 1_000,
  };
}

/** The events that mean something here; a webhook endpoint at Stripe is subscribed to these. */
const TYPES = [
  'checkout.session.completed',
  'checkout.session.expired',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'charge.refunded',
  'charge.dispute.created',
] as const;

const eventOf = (event: Stripe.Event): ProcessorEvent => ({
  id: event.id,
  type: event.type,
  createdAtMs: event.created * 1_000,
  livemode: event.livemode,
  objectId: textOf((event.data.object as { id?: unknown }).id) ?? '',
  about: subjectOf(event),
});

/** Read with care: what Stripe signs may be of another API version than this package describes. */
function subjectOf(event: Stripe.Event): EventSubject {
  const object = event.data.object as unknown as Record<string, unknown>;
  const paymentIntentId = idOf(object.payment_intent);
  const id = textOf(object.id);
  if (event.type.startsWith('checkout.session.'))
    return id === undefined
      ? { kind: 'other' }
      : { kind: 'session', sessionId: id, saysPaid: object.payment_status === 'paid' };
  if (paymentIntentId === undefined) return { kind: 'other' };
  if (event.type === 'charge.refunded')
    return { kind: 'refund', paymentIntentId, refundedAmount: Number(object.amount_refunded) || 0 };
  if (event.type === 'charge.dispute.created' && id !== undefined)
    return { kind: 'dispute', paymentIntentId, disputeId: id };
  return { kind: 'other' };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
/** Of an object that is told by its id, or as a whole. */
const idOf = (value: unknown): string | undefined =>
  textOf(value) ?? textOf((value as { id?: unknown } | null | undefined)?.id);

/** Page after page, each with its own patience; the package's own paging would give up in the middle. */
async function* pages<From extends { id: string }, To>(
  convert: (from: From) => To,
  ask: (after: { starting_after?: string }) => Promise<{ data: From[]; has_more: boolean }>,
): AsyncGenerator<To> {
  let last: From | undefined;
  do {
    const page: { data: From[]; has_more: boolean } = await ask(last ? { starting_after: last.id } : {});
    for (const item of page.data) yield convert(item);
    last = page.has_more ? page.data.at(-1) : undefined;
  } while (last);
}

/** The package waits out lost connections and errors of 500 and more; limits are left to its caller. */
async function waitingOut<T>(pausesMs: readonly number[], work: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (statusOf(error) !== 429) throw failureOf(error);
    }
    await delay(pauseMs);
  }
  return work().catch((error: unknown) => Promise.reject(failureOf(error)));
}

const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode;

/**
 * Without Stripe's own message, headers and body: they may have parts of keys and of what was sent. The request's id
 * is what Stripe's dashboard and support find it by.
 */
function failureOf(error: unknown): Error {
  const { type, code, param, requestId } = error as Partial<Stripe.errors.StripeError>;
  if (type === undefined) return error as Error;
  const status = statusOf(error);
  const isLater =
    status === undefined || status === 409 || status === 429 || status >= 500 || (status < 400 && status > 0);
  const where = [param && `parameter ${param}`, requestId && `request ${requestId}`].filter(Boolean);
  const what = status === undefined ? 'cannot be reached' : `answered ${status} ${code ?? type}`;
  const text = `the payment processor ${what}${where.length > 0 ? ` (${where.join(', ')})` : ''}`;
  return new ProcessorFailure(isLater ? 'unavailable' : 'refused', code ?? type, text);
}

function readEvent(
  stripe: Stripe,
  { body, signature }: { body: Uint8Array; signature: string },
  { config, nowMs }: { config: StripeConfig; nowMs: number },
): ProcessorEvent {
  const { signedAtMs } = readSignature(signature);
  const text = exactText(body);
  const verified = config.webhookSecrets.some((secret) => isSigned(stripe, { text, signature, secret }));
  if (!verified) {
    throw new EventProblem({
      code: 'signature_wrong',
      message: 'None of the signatures in Stripe-Signature fits these bytes and the signing secret',
      fix: 'Send the body byte for byte as the processor signed it, and set the signing secret of this endpoint',
    });
  }
  // In whole seconds, as Stripe signs and its package compares.
  const ageMs = Math.floor(nowMs / 1_000) * 1_000 - signedAtMs;
  if (Math.abs(ageMs) > EVENT_TOLERANCE_MS) {
    const seconds = Math.round(Math.abs(ageMs) / 1_000);
    throw new EventProblem({
      code: ageMs > 0 ? 'timestamp_too_old' : 'timestamp_in_future',
      message: `The event was signed ${seconds} s ${ageMs > 0 ? 'ago' : 'in the future'}; at most ${EVENT_TOLERANCE_MS / 1_000} s are taken`,
      fix: 'Let the processor send the event again, which signs it anew, and check the clocks of both machines',
    });
  }
  return checkedEvent(text, config);
}

/** As the bytes stand: what is not UTF-8 has no text that a signature could be over. */
function exactText(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw malformed('The body of the event is not UTF-8');
  }
}

function isSigned(stripe: Stripe, sent: { text: string; signature: string; secret: string }): boolean {
  try {
    // A tolerance of 0 leaves the age to us: the package takes events from any time in the future.
    return stripe.webhooks.signature?.verifyHeader(sent.text, sent.signature, sent.secret, 0) === true;
  } catch {
    return false;
  }
}

function checkedEvent(text: string, { livemode }: StripeConfig): ProcessorEvent {
  const event = parsed(text);
  if (!isEvent(event))
    throw malformed('The body is not an event: it needs id, type, created and data.object');
  if (event.livemode !== livemode) {
    throw new EventProblem({
      code: 'livemode_wrong',
      message: `The event is of the processor's ${event.livemode ? 'live' : 'test'} mode; this service takes the ${livemode ? 'live' : 'test'} mode's`,
      fix: 'Point the webhook endpoint of the other mode elsewhere',
    });
  }
  return eventOf(event);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('The body of the event is not JSON');
  }
}

const malformed = (message: string) =>
  new EventProblem({ code: 'body_malformed', message, fix: "Send the processor's event as it came" });

function isEvent(value: unknown): value is Stripe.Event {
  const event = value as Partial<Stripe.Event> | null;
  const object: unknown = event?.data?.object;
  return (
    textOf(event?.id) !== undefined &&
    textOf(event?.type) !== undefined &&
    Number.isSafeInteger(event?.created) &&
    typeof event?.livemode === 'boolean' &&
    typeof object === 'object' &&
    object !== null
  );
}
