/** One refusal of each kind, and when it comes: what the API description shows of the error table. */
import { type Refusal, refusalReply } from '../events/refusals.ts';
import type { RefusalEntry } from './document.ts';
import { demo, example } from './examples.ts';

export type RefusalCode = Refusal['code'];

/** The time by which the examples are answered. */
export const EXAMPLES_AT_MS = Date.parse(example.timestamp);
const HOUR_MS = 3_600_000;

const { brandId } = demo;
const { eventId } = example;

/** In the order of the checks. A code without an entry does not compile. */
export const refusalExamples: {
  [Code in RefusalCode]: { when: string; refusal: Extract<Refusal, { code: Code }> };
} = {
  https_required: {
    when: 'the request came over plain HTTP (in production only)',
    refusal: { code: 'https_required' },
  },
  unknown_endpoint: {
    when: 'there is no such path, or not with this method',
    refusal: { code: 'unknown_endpoint', method: 'GET', path: '/rewards-api/nothing' },
  },
  body_too_large: {
    when: 'the body has more than 10 KB',
    refusal: { code: 'body_too_large', limitBytes: 10_240 },
  },
  invalid_body: {
    when: 'the body is not the JSON that is expected',
    refusal: {
      code: 'invalid_body',
      problem: 'body: must be valid JSON without __proto__ or constructor keys',
    },
  },
  invalid_event_data: {
    when: 'a field is missing or breaks one of its limits',
    refusal: {
      code: 'invalid_event_data',
      errors: [
        'brandId: must be an address: 0x and 40 hex digits',
        'userEmail: must be a valid e-mail address',
      ],
    },
  },
  idempotency_key_reused: {
    when: 'the Idempotency-Key came before, with another body',
    refusal: { code: 'idempotency_key_reused' },
  },
  request_in_progress: {
    when: 'the first request with this Idempotency-Key is not answered yet',
    refusal: { code: 'request_in_progress' },
  },
  brand_not_found: { when: 'nobody is registered as brandId', refusal: { code: 'brand_not_found', brandId } },
  automation_disabled: {
    when: 'the brand has switched event rewards off',
    refusal: { code: 'automation_disabled', brandId },
  },
  domain_not_authorized: {
    when: "the event comes from a domain that is not the brand's, or names none",
    refusal: {
      code: 'domain_not_authorized',
      host: 'elsewhere.example',
      brandId,
      brandName: 'Demo',
      configured: [demo.domain],
    },
  },
  event_not_found: {
    when: 'the brand has no active event of this name',
    refusal: { code: 'event_not_found', eventType: 'custom_unknown', brandId },
  },
  channel_not_allowed: {
    when: 'the event is limited to chat channels, and this is another one',
    refusal: { code: 'channel_not_allowed', channel: '#general', allowed: ['#support'] },
  },
  duplicate: {
    when: 'the same event of the same user was accepted less than 60 s ago',
    refusal: { code: 'duplicate', existingEventId: eventId, passesAtMs: EXAMPLES_AT_MS + 42_000 },
  },
  cooldown: {
    when: "the user's last reward for this event is younger than its cooldown",
    refusal: {
      code: 'cooldown',
      cooldownMs: 24 * HOUR_MS,
      remainingMs: 6 * HOUR_MS,
      passesAtMs: EXAMPLES_AT_MS + 6 * HOUR_MS,
      previousReward: { eventId, rewardAmount: 100, timestamp: EXAMPLES_AT_MS - 18 * HOUR_MS },
    },
  },
  max_claims_reached: {
    when: 'the user has claimed the event as often as it allows',
    refusal: { code: 'max_claims_reached', totalClaims: 1, maxClaims: 1 },
  },
  max_total_claims_reached: {
    when: 'all users together have claimed it as often as it allows',
    refusal: { code: 'max_total_claims_reached', totalClaims: 100, maxTotalClaims: 100 },
  },
  insufficient_brand_balance: {
    when: "the brand's escrow does not cover the reward",
    refusal: { code: 'insufficient_brand_balance', available: 60, required: 100 },
  },
  payout_failed: {
    when: 'the chain refused the payment',
    refusal: { code: 'payout_failed', eventId, reason: 'reverted' },
  },
  payout_pending: {
    when: 'the chain is late; the reward is recorded and will be paid once',
    refusal: { code: 'payout_pending', eventId },
  },
  database_unavailable: {
    when: 'the ledger cannot be reached',
    refusal: { code: 'database_unavailable' },
  },
  internal_error: { when: 'something is wrong with the service', refusal: { code: 'internal_error' } },
};

/** A refusal as it is answered. */
export function refusalEntry(code: RefusalCode): RefusalEntry {
  const { when, refusal } = refusalExamples[code];
  const { status, body, retryAfterSeconds } = refusalReply(refusal, {
    nowMs: EXAMPLES_AT_MS,
    dialect: 'current',
  });
  return { when, status, body, retryAfterSeconds };
}

/** Refusals that any request may get; the ledger is asked about the origin of each. */
export const anywhere: RefusalCode[] = ['https_required', 'internal_error', 'database_unavailable'];
export const withBody: RefusalCode[] = ['body_too_large', 'invalid_body', ...anywhere];
