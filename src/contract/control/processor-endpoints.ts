/** The endpoints that steer the emulated processor. Paths are below `/_rewards`. */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { endpoint } from './control-endpoint.ts';
import * as processor from './processor.ts';
import type { ControlRefusalCode } from './refusals.ts';

const TAG = 'Processor';
const path = { session: 'latest' };
const Session = named('ProcessorSession', processor.processorSession);
const eventPath = z.object({ event: z.string().meta({ description: 'Id of an event, or `latest`.' }) });
const endpointPath = z.object({ endpoint: z.string() });

/** Something that happens to a session. */
const step = (
  [verb, id, summary]: [string, string, string],
  wish: z.ZodType,
  {
    example = {},
    description,
    at = '/processor/sessions',
  }: { example?: object; description?: string; at?: string } = {},
) =>
  endpoint(['post', `${at}/{session}/${verb}`, id, TAG, summary], {
    ...(description && { description }),
    path: processor.sessionPath,
    body: named(`${id.replace(/^./, (first) => first.toUpperCase())}Wish`, wish),
    example: { path, body: example },
    answer: { description: 'The session as it is now.', body: Session },
    refusals: ['invalid_body', 'invalid_settings', 'processor_object_not_found', 'processor_refused'],
  });

const BACKGROUND = 'Answers at once; what it tells its endpoints is sent in the background.';

export const processorEndpoints: readonly Endpoint<ControlRefusalCode>[] = [
  endpoint(['get', '/processor/sessions', 'listSessions', TAG, 'Checkout sessions, newest first'], {
    query: processor.sessionsQuery,
    answer: { description: 'The sessions.', body: named('ProcessorSessions', processor.processorSessions) },
    refusals: ['invalid_settings'],
  }),
  endpoint(['get', '/processor/sessions/{session}', 'showSession', TAG, 'One checkout session'], {
    path: processor.sessionPath,
    example: { path },
    answer: { description: 'The session.', body: Session },
    refusals: ['processor_object_not_found'],
  }),
  step(['pay', 'paySession', 'Pay a session as its page would'], processor.paymentWish, {
    description: BACKGROUND,
    example: { later: true, delay: '30s' },
  }),
  step(['pay', 'payCheckout', 'The same'], processor.paymentWish, { at: '/checkout' }),
  step(['decline', 'declineSession', 'Try to pay with a card that is declined'], processor.declineWish, {
    description: 'The session stays open.',
    example: { code: 'insufficient_funds' },
  }),
  step(['expire', 'expireSession', 'End an open session'], processor.expiryWish),
  step(['refund', 'refundSession', 'Give a payment back, or a part of it'], processor.refundWish, {
    example: { amount: 100 },
  }),
  step(['dispute', 'disputeSession', "Let the buyer's bank ask the money back"], processor.disputeWish),
  endpoint(['get', '/processor/events', 'listProcessorEvents', TAG, 'Events, newest first'], {
    query: processor.eventsQuery,
    example: { query: { type: 'checkout.session.completed' } },
    answer: {
      description: 'The events with their deliveries.',
      body: named('ProcessorEvents', processor.processorEvents),
    },
    refusals: ['invalid_settings'],
  }),
  endpoint(['get', '/processor/events/{event}', 'showProcessorEvent', TAG, 'One event with its payload'], {
    path: eventPath,
    example: { path: { event: 'latest' } },
    answer: { description: 'The event.', body: named('ProcessorEvent', processor.processorEvent) },
    refusals: ['processor_object_not_found'],
  }),
  endpoint(['post', '/processor/events/{event}/resend', 'resendProcessorEvent', TAG, 'Send an event again'], {
    path: eventPath,
    body: named('ResendWish', processor.resendWish),
    example: { path: { event: 'latest' }, body: {} },
    answer: { description: 'The event.', body: named('ProcessorEvent', processor.processorEvent) },
    refusals: ['invalid_body', 'invalid_settings', 'processor_object_not_found'],
  }),
  endpoint(['get', '/processor/deliveries', 'listProcessorDeliveries', TAG, 'Deliveries, newest first'], {
    query: processor.deliveriesQuery,
    example: { query: { state: 'failed' } },
    answer: {
      description: 'The deliveries with every attempt.',
      body: named('ProcessorDeliveries', processor.processorDeliveries),
    },
    refusals: ['invalid_settings'],
  }),
  endpoint(['get', '/processor/endpoints', 'listProcessorEndpoints', TAG, 'Who hears of events'], {
    answer: {
      description: 'The endpoints.',
      body: named('ProcessorEndpoints', processor.processorEndpoints),
    },
  }),
  endpoint(['post', '/processor/endpoints', 'addProcessorEndpoint', TAG, 'Let an address hear of events'], {
    status: 201,
    body: named('EndpointWish', processor.endpointWish),
    example: {
      body: { url: 'http://127.0.0.1:4242/webhook', events: ['checkout.session.completed'] },
    },
    answer: { description: 'The endpoint.', body: named('ProcessorEndpoint', processor.processorEndpoint) },
    refusals: ['invalid_body', 'invalid_settings', 'processor_refused'],
  }),
  endpoint(
    [
      'delete',
      '/processor/endpoints/{endpoint}',
      'removeProcessorEndpoint',
      TAG,
      'Tell an address nothing more',
    ],
    {
      path: endpointPath,
      example: { path: { endpoint: 'we_1' } },
      answer: { description: 'It is removed.', body: named('EndpointRemoved', processor.endpointRemoved) },
      refusals: ['processor_object_not_found'],
    },
  ),
];
