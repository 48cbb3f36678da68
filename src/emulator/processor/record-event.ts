/** Events of the emulated processor, and the webhook endpoints that hear of them. */
import type Stripe from 'stripe';
import type { Change, Entry, Records, StripeObject } from './records.ts';
import { noSuchObject } from './stripe-error.ts';

export type WebhookEndpoint = Stripe.WebhookEndpoint;
/** Without the union over every type of event. */
export type ProcessorEvent = Stripe.EventBase;

export interface EndpointNotes {
  /** What its signatures are made with. */
  secret: string;
}

/** The version of the API whose objects are shown here: that of the package `stripe`. */
export const API_VERSION = '2026-10-28.endive';

/** What the emulated processor tells. */
export const eventTypes = [
  'checkout.session.completed',
  'checkout.session.expired',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
] as const;
export type EventType = (typeof eventTypes)[number];

/** `silent`: the event is recorded, and no endpoint hears of it. `request`: what has caused it, if a request of the API has. */
export interface Telling {
  silent?: boolean | undefined;
  request?: { id: string; key: string | null } | undefined;
}

/** Records what has happened to an object, as the object is now, and queues it for every endpoint that wants the type. */
export async function recordEvent(
  change: Change,
  type: EventType,
  object: StripeObject,
  { silent = false, request }: Telling = {},
): Promise<ProcessorEvent> {
  const all = await change.all<WebhookEndpoint, EndpointNotes>('webhook_endpoint');
  const listening = silent ? [] : all.filter(({ body }) => body.status === 'enabled' && wants(body, type));
  const event: ProcessorEvent = {
    id: change.newId('evt_1'),
    object: 'event',
    api_version: API_VERSION,
    created: change.now,
    data: { object: { ...object } as unknown as Stripe.Event.Data.Object },
    livemode: false,
    pending_webhooks: listening.length,
    request: { id: request?.id ?? null, idempotency_key: request?.key ?? null },
    type,
  };
  await change.add({ body: event, about: object.id });
  for (const { body } of listening) await change.send({ eventId: event.id, endpointId: body.id });
  return event;
}

const wants = ({ enabled_events: wanted }: WebhookEndpoint, type: string) =>
  wanted.includes('*') || wanted.includes(type);

/** Queues an event once more, for one endpoint or for all that are enabled. */
export const resendEvent = (books: Records, of: { eventId: string; endpointId?: string | undefined }) =>
  books.change(async (change) => {
    const { body: event } = await change.need<ProcessorEvent>('event', of.eventId);
    const all = await change.all<WebhookEndpoint>('webhook_endpoint');
    const chosen = all.filter(({ body }) =>
      of.endpointId === undefined ? body.status === 'enabled' : body.id === of.endpointId,
    );
    if (of.endpointId !== undefined && chosen.length === 0) {
      throw noSuchObject('webhook_endpoint', of.endpointId, 'endpoint');
    }
    for (const { body } of chosen) await change.send({ eventId: event.id, endpointId: body.id });
    return event;
  });

/** `secret`: one of its own where none is given. */
export async function addEndpoint(
  change: Change,
  wish: {
    id?: string;
    url: string;
    events: string[];
    secret?: string | undefined;
    description?: string | null;
  },
): Promise<Entry<WebhookEndpoint, EndpointNotes>> {
  const secret = wish.secret ?? change.newId('whsec_', 32);
  const body: WebhookEndpoint = {
    id: wish.id ?? change.newId('we_1'),
    object: 'webhook_endpoint',
    api_version: API_VERSION,
    application: null,
    created: change.now,
    description: wish.description ?? null,
    enabled_events: wish.events,
    livemode: false,
    metadata: {},
    status: 'enabled',
    url: wish.url,
  };
  await change.add({ body, notes: { secret } });
  return { body, notes: { secret }, about: null, dueAt: null };
}
