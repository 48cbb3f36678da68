/** The emulated payment processor, as the control API steers it. Paths are below `/_rewards`. */
import { z } from 'zod';
import { PADDED_DURATION_FORM } from '../../lib/duration.ts';
import { named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { type AnswerOf, endpoint } from './control-endpoint.ts';
import { bodyOf, instant, listLimit } from './fields.ts';

const text = () => z.string().nullable();
const yesNo = () => z.boolean({ error: 'must be true or false' });
/** Postgres keeps no NUL. */
const hasNoNul = (value: string) => !value.includes('\0');
const NUL_PROBLEM = { error: 'must not have a NUL character' };
const textOf = (most: number) =>
  z
    .string({ error: 'must be a text' })
    .min(1, { error: 'must not be empty' })
    .max(most, { error: `must have at most ${most} characters` })
    .refine(hasNoNul, NUL_PROBLEM);
const duration = () =>
  z
    .string({ error: 'must be a duration such as 30s' })
    .regex(PADDED_DURATION_FORM, { error: 'must be a duration such as 30s' });
const count = () => z.int({ error: 'must be a whole number' }).min(1, { error: 'must be at least 1' });

const processorSession = z.object({
  id: z.string(),
  status: z.string().meta({ description: '`open`, `complete` or `expired`.' }),
  paymentStatus: z.string().meta({ description: '`unpaid`, `paid` or `no_payment_required`.' }),
  amount: z.int().meta({ description: "In the currency's smallest unit." }),
  currency: z.string(),
  email: text(),
  checkoutId: text().meta({
    description: 'The `client_reference_id`: the id of the one that made the session.',
  }),
  paymentIntentId: text(),
  refunded: z.int().meta({ description: 'What has gone back.' }),
  disputed: z.boolean(),
  url: text().meta({ description: 'The page on which it is paid; null when nothing can be paid any more.' }),
  metadata: z.record(z.string(), z.string()),
  createdAt: instant(),
  expiresAt: instant(),
});
const processorSessions = z.object({ sessions: z.array(processorSession) });

const attempt = z.object({
  at: instant(),
  status: z.int().nullable().meta({ description: 'Null without an answer.' }),
  answer: z.string().meta({ description: 'The beginning of the body, or why there was no answer.' }),
  durationMs: z.int(),
});
const delivery = z.object({
  id: z.string(),
  eventId: z.string(),
  endpointId: z.string(),
  state: z.enum(['waiting', 'delivered', 'failed']),
  createdAt: instant(),
  nextAt: instant().nullable().meta({ description: 'When it is tried next; null when it will not be.' }),
  attempts: z.array(attempt),
});
const processorDeliveries = z.object({ deliveries: z.array(delivery) });

const event = z.object({
  id: z.string(),
  type: z.string(),
  objectId: z
    .string()
    .meta({ description: 'Of what it is about: a session, a payment, a charge, a dispute.' }),
  createdAt: instant(),
  deliveries: z.array(delivery),
});
const processorEvents = z.object({ events: z.array(event) });
const processorEvent = event.extend({
  payload: z.record(z.string(), z.unknown()).meta({ description: 'As endpoints get it.' }),
});

const LIST_MAX = 500;
const body = <S extends z.core.$ZodShape>(shape: S) => bodyOf(shape, 'is unknown');
const sessionsQuery = z.object({
  status: z.enum(['open', 'complete', 'expired']).optional(),
  user: z.string().optional().meta({ description: "The buyer's e-mail, in letters of any size." }),
  limit: listLimit(LIST_MAX),
});
const eventsQuery = z.object({
  type: z.string().optional(),
  object: z
    .string()
    .optional()
    .meta({ description: 'Only events about this session, payment, charge or dispute.' }),
  session: z.string().optional().meta({
    description: 'Only events about this session, its payment, and what went back of that.',
  }),
  limit: listLimit(LIST_MAX),
});
const deliveriesQuery = z.object({
  event: z.string().optional(),
  endpoint: z.string().optional(),
  state: z.enum(['waiting', 'delivered', 'failed']).optional(),
  limit: listLimit(LIST_MAX),
});

const webhook = yesNo()
  .optional()
  .meta({ description: 'False: recorded, but told to no endpoint. Default: true.' });
const sessionPath = z.object({
  session: z.string().meta({
    description: "The session's id, the id of the checkout that made it, or `latest`.",
  }),
});
const paymentRequest = body({
  later: yesNo()
    .optional()
    .meta({ description: 'Arrives later, like a bank debit: complete, but unpaid until then.' }),
  delay: duration()
    .optional()
    .meta({ description: 'How much later. Default: 1m, on the clock of the emulator.' }),
  fails: textOf(64)
    .optional()
    .meta({ description: 'Of one that arrives later: it fails then, with this code.' }),
  email: textOf(254).optional().meta({ description: "The buyer's, where the session names none." }),
  webhook,
});
const declineRequest = body({
  code: textOf(64).optional().meta({ description: 'The decline code. Default: `generic_decline`.' }),
  webhook,
});
const expiryRequest = body({ webhook });
const refundRequest = body({
  amount: count()
    .optional()
    .meta({ description: "In the currency's smallest unit. Default: all that is left." }),
  reason: z
    .enum(['duplicate', 'fraudulent', 'requested_by_customer'], {
      error: 'must be duplicate, fraudulent or requested_by_customer',
    })
    .optional(),
  webhook,
});
const disputeRequest = body({
  reason: textOf(64).optional().meta({ description: 'Default: `fraudulent`.' }),
  webhook,
});

const endpointRequest = body({
  url: z.url({ protocol: /^https?$/, error: 'must be an http address' }).refine(hasNoNul, NUL_PROBLEM),
  events: z
    .array(z.string(), { error: 'must be a list of event types' })
    .optional()
    .meta({ description: 'Types of events, or `*`. Default: all.' }),
  secret: textOf(255)
    .optional()
    .meta({ description: 'What its signatures are made with. Default: a new one.' }),
});
const processorEndpoint = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  secret: z.string(),
  own: z.boolean().meta({ description: 'The payment-mint of this stack.' }),
});
const endpointList = z.object({ endpoints: z.array(processorEndpoint) });
const endpointRemoved = z.object({ removed: z.string() });
const resendRequest = body({
  endpoint: textOf(64).optional().meta({ description: 'Id of one endpoint. Default: all.' }),
});

const TAG = 'Processor';
const path = { session: 'latest' };
const Session = named('ProcessorSession', processorSession);
const eventPath = z.object({ event: z.string().meta({ description: 'Id of an event, or `latest`.' }) });
const endpointPath = z.object({ endpoint: z.string() });

/** Something that happens to a session. */
const step = <S extends z.ZodType>(
  [verb, id, summary]: [string, string, string],
  request: S,
  more: { example?: object; description?: string; at?: `/${string}` } = {},
) =>
  endpoint(`POST ${more.at ?? '/processor/sessions'}/{session}/${verb}`, {
    id,
    tag: TAG,
    summary,
    ...(more.description && { description: more.description }),
    path: sessionPath,
    body: named(`${id.replace(/^./, (first) => first.toUpperCase())}Wish`, request),
    bodyOptional: true,
    example: { path, body: more.example ?? {} },
    answer: { description: 'The session as it is now.', body: Session },
    refusals: ['invalid_body', 'invalid_settings', 'processor_object_not_found', 'processor_refused'],
  });

const BACKGROUND = 'Answers at once; what it tells its endpoints is sent in the background.';

export const listSessions = endpoint('GET /processor/sessions', {
  id: 'listSessions',
  tag: TAG,
  summary: 'Checkout sessions, newest first',
  query: sessionsQuery,
  answer: { description: 'The sessions.', body: named('ProcessorSessions', processorSessions) },
  refusals: ['invalid_settings'],
});

export const beginCheckout = endpoint('POST /processor/sessions', {
  id: 'beginCheckout',
  tag: TAG,
  summary: "Begin a payment that buys RWT, as a brand's server would",
  status: 201,
  body: named(
    'CheckoutWish',
    body({
      user: textOf(254).meta({ description: "The buyer's e-mail." }),
      amount: count().meta({ description: 'In cents; a dollar buys 1000 RWT.' }),
      brand: textOf(254).optional().meta({ description: 'Id or domain. Default: the first of the stack.' }),
    }),
  ),
  example: { body: { user: demo.user, amount: 500 } },
  answer: { description: 'The session, which is open.', body: Session },
  refusals: ['invalid_body', 'invalid_settings', 'not_sent', 'processor_object_not_found'],
  // What is sent is a request of its own, which `undo` takes back.
  undo: 'passes',
});

export const showSession = endpoint('GET /processor/sessions/{session}', {
  id: 'showSession',
  tag: TAG,
  summary: 'One checkout session',
  path: sessionPath,
  example: { path },
  answer: { description: 'The session.', body: Session },
  refusals: ['processor_object_not_found'],
});

export const paySession = step(['pay', 'paySession', 'Pay a session as its page would'], paymentRequest, {
  description: BACKGROUND,
  example: { later: true, delay: '30s' },
});

export const payCheckout = step(['pay', 'payCheckout', 'The same'], paymentRequest, {
  at: '/checkout',
});

export const declineSession = step(
  ['decline', 'declineSession', 'Try to pay with a card that is declined'],
  declineRequest,
  {
    description: 'The session stays open.',
    example: { code: 'insufficient_funds' },
  },
);

export const expireSession = step(['expire', 'expireSession', 'End an open session'], expiryRequest);

export const refundSession = step(
  ['refund', 'refundSession', 'Give a payment back, or a part of it'],
  refundRequest,
  {
    example: { amount: 100 },
  },
);

export const disputeSession = step(
  ['dispute', 'disputeSession', "Let the buyer's bank ask the money back"],
  disputeRequest,
);

export const listProcessorEvents = endpoint('GET /processor/events', {
  id: 'listProcessorEvents',
  tag: TAG,
  summary: 'Events, newest first',
  query: eventsQuery,
  example: { query: { type: 'checkout.session.completed' } },
  answer: {
    description: 'The events with their deliveries.',
    body: named('ProcessorEvents', processorEvents),
  },
  refusals: ['invalid_settings'],
});

export const showProcessorEvent = endpoint('GET /processor/events/{event}', {
  id: 'showProcessorEvent',
  tag: TAG,
  summary: 'One event with its payload',
  path: eventPath,
  example: { path: { event: 'latest' } },
  answer: { description: 'The event.', body: named('ProcessorEvent', processorEvent) },
  refusals: ['processor_object_not_found'],
});

export const resendProcessorEvent = endpoint('POST /processor/events/{event}/resend', {
  id: 'resendProcessorEvent',
  tag: TAG,
  summary: 'Send an event again',
  path: eventPath,
  body: named('ResendWish', resendRequest),
  bodyOptional: true,
  example: { path: { event: 'latest' }, body: {} },
  answer: { description: 'The event.', body: named('ProcessorEvent', processorEvent) },
  refusals: ['invalid_body', 'invalid_settings', 'processor_object_not_found'],
});

export const listProcessorDeliveries = endpoint('GET /processor/deliveries', {
  id: 'listProcessorDeliveries',
  tag: TAG,
  summary: 'Deliveries, newest first',
  query: deliveriesQuery,
  example: { query: { state: 'failed' } },
  answer: {
    description: 'The deliveries with every attempt.',
    body: named('ProcessorDeliveries', processorDeliveries),
  },
  refusals: ['invalid_settings'],
});

export const listProcessorEndpoints = endpoint('GET /processor/endpoints', {
  id: 'listProcessorEndpoints',
  tag: TAG,
  summary: 'Who hears of events',
  answer: {
    description: 'The endpoints.',
    body: named('ProcessorEndpoints', endpointList),
  },
});

export const addProcessorEndpoint = endpoint('POST /processor/endpoints', {
  id: 'addProcessorEndpoint',
  tag: TAG,
  summary: 'Let an address hear of events',
  status: 201,
  body: named('EndpointWish', endpointRequest),
  bodyOptional: true,
  example: {
    body: { url: 'http://127.0.0.1:4242/webhook', events: ['checkout.session.completed'] },
  },
  answer: { description: 'The endpoint.', body: named('ProcessorEndpoint', processorEndpoint) },
  refusals: ['invalid_body', 'invalid_settings', 'processor_refused'],
});

export const removeProcessorEndpoint = endpoint('DELETE /processor/endpoints/{endpoint}', {
  id: 'removeProcessorEndpoint',
  tag: TAG,
  summary: 'Tell an address nothing more',
  path: endpointPath,
  example: { path: { endpoint: 'we_1' } },
  answer: { description: 'It is removed.', body: named('EndpointRemoved', endpointRemoved) },
  refusals: ['processor_object_not_found'],
});

export const processorEndpoints = [
  listSessions,
  beginCheckout,
  showSession,
  paySession,
  payCheckout,
  declineSession,
  expireSession,
  refundSession,
  disputeSession,
  listProcessorEvents,
  showProcessorEvent,
  resendProcessorEvent,
  listProcessorDeliveries,
  listProcessorEndpoints,
  addProcessorEndpoint,
  removeProcessorEndpoint,
];

export type CheckoutSession = AnswerOf<typeof showSession>;
export type ProcessorEvents = AnswerOf<typeof listProcessorEvents>;
export type ProcessorEvent = AnswerOf<typeof showProcessorEvent>;
export type ProcessorDelivery = AnswerOf<typeof listProcessorDeliveries>['deliveries'][number];
export type ProcessorEndpoint = AnswerOf<typeof addProcessorEndpoint>;
