/** POST manual-event (contract: Endpoints, Reward result). */
import { z } from 'zod';
import { type Endpoint, named } from '../endpoint.ts';
import { demo, rewardExample } from '../examples.ts';
import { idempotencyKeyHeader } from '../headers.ts';
import { address, hash, rwt } from '../shapes.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';
import { describedSubmission } from './submission.ts';

export const rewardResult = z.object({
  success: z.literal(true),
  eventId: z.uuid().meta({ description: 'Id of this event.' }),
  message: z.string().meta({ description: 'For people.' }),
  rewardAmount: rwt(),
  rwtDistributed: z.int().meta({ description: 'The same as `rewardAmount`.' }),
  eventType: z.string(),
  brandId: address(),
  status: z.literal('rewarded'),
  walletCreated: z.boolean().meta({ description: 'Whether the user got a new wallet.' }),
  walletAddress: address().meta({ description: "The user's wallet." }),
  transactionHash: hash().meta({
    description:
      'The transaction that pays this reward; it may pay others too. It may be replaced before a block takes it: `events/{eventId}` tells the present one.',
  }),
  reward: z
    .object({ amount: z.int(), eventType: z.string(), walletAddress: address(), transactionHash: hash() })
    .meta({ id: 'RewardFacts', description: 'The same facts, grouped.' }),
});
export type RewardResult = z.output<typeof rewardResult>;

const { brandId, domain, user: userEmail } = demo;
const event = { brandId, eventType: 'account_creation', userEmail, domain };

export const manualEventEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'manualEvent',
  tag: 'Events',
  method: 'post',
  path: '/manual-event',
  prefixed: true,
  summary: 'Send one customer event and pay its reward',
  description: [
    'The checks come in this order: body, fields, brand, automation, credential, domain, event, channel, duplicate, cooldown, max claims, max total claims, spend limit, brand funds. The first that fails is the answer; a refused event counts nowhere.',
    'The answer comes when the transaction that pays the reward is signed, stored and sent.',
    '`domain` (else the host of `sourceUrl`, else the Origin header) must be a domain of the brand or a subdomain of one. An Origin header must be one too.',
  ].join('\n\n'),
  key: { scheme: 'brandKey', required: false },
  parameters: [idempotencyKeyHeader],
  body: named('EventSubmission', describedSubmission),
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
    200: {
      description: 'The reward is paid.',
      body: named('RewardResult', rewardResult),
      example: rewardExample,
    },
  },
  refusals: [
    ...withBody,
    'invalid_event_data',
    'brand_not_found',
    'automation_disabled',
    'brand_key_required',
    'domain_not_authorized',
    'event_not_found',
    'channel_not_allowed',
    'duplicate',
    'already_rewarded',
    'cooldown',
    'max_claims_reached',
    'max_total_claims_reached',
    'spend_limit',
    'insufficient_brand_balance',
    'payout_failed',
    'payout_pending',
    'idempotency_key_reused',
    'request_in_progress',
  ],
};
