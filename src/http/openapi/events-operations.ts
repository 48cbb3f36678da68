/** The operations of the event handler host that have to do with events (contract: Endpoints). */
import { z } from 'zod';
import { eventConfigQuery } from '../../contract/events/event-config.ts';
import { idempotencyKeyField } from '../../contract/idempotency-key.ts';
import type { Operation } from './document.ts';
import { demo, rewardExample } from './examples.ts';
import { anywhere, type RefusalCode, refusalEntry, withBody } from './refusal-examples.ts';

const ofEvents: RefusalCode[] = [
  'brand_not_found',
  'automation_disabled',
  'domain_not_authorized',
  'event_not_found',
  'channel_not_allowed',
  'duplicate',
  'cooldown',
  'max_claims_reached',
  'max_total_claims_reached',
  'insufficient_brand_balance',
  'payout_failed',
  'payout_pending',
];

const { brandId, domain, user: userEmail } = demo;
const event = { brandId, eventType: 'account_creation', userEmail, domain };
const kept = ['ETag', 'Cache-Control'];
const unchanged = {
  description: 'Nothing has changed since the state that `If-None-Match` names.',
  headers: kept,
};
const ifNoneMatch = z.object({
  'If-None-Match': z.string().optional().meta({ description: 'The `ETag` of an earlier answer.' }),
});
/** `apiPrefix` stands in front of the paths that have it. */
export function eventsOperations(apiPrefix: string): Operation[] {
  return [
    {
      id: 'manualEvent',
      tag: 'Events',
      method: 'post',
      path: `${apiPrefix}/manual-event`,
      summary: 'Send one customer event and pay its reward',
      description: [
        'The checks come in this order: body, fields, brand, automation, domain, event, channel, duplicate, cooldown, max claims, max total claims, brand funds. The first that fails is the answer; a refused event counts nowhere.',
        'The answer comes when the transaction that pays the reward is signed, stored and sent.',
        '`domain` (else the host of `sourceUrl`, else the Origin header) must be a domain of the brand or a subdomain of one. An Origin header must be one too.',
      ].join('\n\n'),
      key: { scheme: 'brandKey', required: false },
      parameters: [{ in: 'header', schema: z.object({ 'Idempotency-Key': idempotencyKeyField.optional() }) }],
      body: 'EventSubmission',
      examples: [
        { summary: 'A new account', body: event },
        {
          summary: 'A purchase, paid per dollar',
          body: {
            ...event,
            eventType: 'purchase',
            sourceUrl: `https://shop.${domain}/thank-you`,
            metadata: { order_id: 'A-1001', order_total: 24.9 },
          },
        },
        {
          summary: 'An answer in a chat channel',
          body: { ...event, eventType: 'custom_support_answer', metadata: { channel_id: '#support' } },
        },
        {
          summary: 'Safe to repeat',
          headers: { 'Idempotency-Key': 'survey-2030-01-01-alice' },
          body: { ...event, eventType: 'complete_survey' },
        },
      ],
      answers: {
        200: { description: 'The reward is paid.', schema: 'RewardResult', example: rewardExample },
      },
      refusals: [
        ...withBody,
        'invalid_event_data',
        ...ofEvents,
        'idempotency_key_reused',
        'request_in_progress',
      ],
    },
    {
      id: 'bulkEvents',
      tag: 'Events',
      method: 'post',
      path: `${apiPrefix}/bulk-events`,
      summary: 'Send several customer events',
      description:
        'Each event is decided as if it had been sent alone; what `manual-event` would have answered stands in `results`. The body as a whole keeps to the limit of a body.',
      key: { scheme: 'brandKey', required: false },
      body: 'BulkEvents',
      examples: [
        {
          summary: 'Two events of one user',
          body: {
            events: [
              { ...event, eventType: 'newsletter_subscribe' },
              { ...event, eventType: 'custom_unknown' },
            ],
          },
        },
      ],
      answers: {
        200: {
          description: 'Every event is decided.',
          schema: 'BulkResult',
          example: {
            success: true,
            processed: 1,
            failed: 1,
            results: [rewardExample, { ...Object(refusalEntry('event_not_found').body), status: 400 }],
          },
        },
      },
      refusals: [...withBody, 'invalid_event_data'],
    },
    {
      id: 'eventConfig',
      tag: 'Events',
      method: 'get',
      path: `${apiPrefix}/event-config`,
      summary: "A brand's active events",
      description: 'May be kept for five minutes; rules that change apply at once all the same.',
      parameters: [
        { in: 'query', schema: eventConfigQuery },
        { in: 'header', schema: ifNoneMatch },
      ],
      examples: [{ summary: 'The demo brand', query: { brandId } }],
      answers: {
        200: {
          description: "The events, in the brand's own order.",
          schema: 'EventConfig',
          headers: kept,
          example: {
            success: true,
            brandId,
            events: [
              {
                eventId: 'newsletter_subscribe',
                eventType: 'newsletter_subscribe',
                rewardAmount: 25,
                maxClaims: 1,
                cooldownHours: 24,
                detectionMethod: 'url_pattern',
                detectionConfig: {
                  urlPatterns: ['/newsletter/thanks*'],
                  successSelectors: ['.newsletter-success'],
                },
                isCustom: false,
              },
            ],
            count: 1,
          },
        },
        304: unchanged,
      },
      refusals: ['invalid_event_data', 'brand_not_found', ...anywhere],
    },
    {
      id: 'clientScript',
      tag: 'Events',
      method: 'get',
      path: '/sdk.js',
      summary: 'The client script',
      description:
        'Notices events on the pages of a brand and sends them: `<script async src="…/sdk.js" data-brand-id="0x…"></script>`.',
      parameters: [{ in: 'header', schema: ifNoneMatch }],
      examples: [{ summary: 'The script' }],
      answers: {
        200: { description: 'The script.', contentType: 'text/javascript', headers: kept },
        304: unchanged,
      },
      refusals: anywhere,
    },
  ];
}
