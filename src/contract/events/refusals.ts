/** The whole error table of the event handler: which refusal is answered with which status, text and facts (contract: Errors). */
import { isLoopback } from '../../rules/brands/domain.ts';
import type { ClaimRefusal } from '../../rules/events/claim-policy.ts';
import type { ScreeningRefusal } from '../../rules/events/submission.ts';
import { demo, example } from '../examples.ts';
import {
  EXAMPLES_AT_MS,
  isoInstant,
  type RefusalRows,
  refusalTable,
  type Said,
  wholeSeconds,
} from '../refusals.ts';
import {
  anywhere,
  brandNotFound,
  type RefusalBody,
  type RequestRefusal,
  refusalForm,
  requestRefusals,
} from '../shared-refusals.ts';
import { type PaymentsRefusal, paymentRefusals } from './payment-refusals.ts';

export type EventsRefusal =
  | RequestRefusal
  | PaymentsRefusal
  | ConstraintsRefusal
  | ScreeningRefusal
  | Exclude<ClaimRefusal, { code: 'insufficient_brand_balance' }>
  /** What a brand has left is for its own servers alone: `available` is absent for callers without its key. */
  | { code: 'insufficient_brand_balance'; available?: number; required: number }
  | { code: 'event_unknown'; eventId: string }
  | { code: 'payout_failed'; eventId: string; reason: string }
  | { code: 'payout_pending'; eventId: string };
export type EventsRefusalCode = EventsRefusal['code'];

/** No channel of a chat platform has a longer name; anything can be sent. */
const CHANNEL_SHOWN = 64;
const HOUR_MS = 3_600_000;
const { brandId } = demo;
const { eventId } = example;
const { https_required, too_many_requests, unknown_endpoint, method_not_allowed, ...bodies } =
  requestRefusals;
const { body_too_large, unsupported_encoding, invalid_body, ...others } = bodies;
const { idempotency_key_reused, request_in_progress, database_unavailable, database_busy, internal_error } =
  others;

/** The refusals of invalidations (contract: POST /constraint-updater/invalidate-external-api). */
type ConstraintsRefusal =
  | { code: 'api_key_required' }
  | { code: 'missing_required_field'; field: string }
  /** Fields that are wrong, each prefixed with its name. */
  | { code: 'invalid_invalidation'; errors: string[] };

/** In the order of the checks. */
const constraintsRefusals: RefusalRows<ConstraintsRefusal> = {
  api_key_required: {
    status: 401,
    when: 'results are invalidated without the key of a brand, or with one that is not valid',
    headers: () => ({ 'WWW-Authenticate': 'Bearer' }),
    says: {
      error: 'Unauthorized',
      message: "Send the brand's key from its own server: Authorization: Bearer <API_KEY>.",
      details: { reason: 'api_key_required' },
    },
  },
  missing_required_field: {
    status: 400,
    when: 'an invalidation does not say of which URL',
    example: { field: 'api_url' },
    says: ({ field }) => ({
      error: `Missing required field: ${field}`,
      message: 'Name the URL of the constraint whose kept results are to be forgotten.',
      details: { reason: 'missing_required_field', errors: [`${field}: is required`] },
    }),
  },
  invalid_invalidation: {
    status: 400,
    when: 'a field of an invalidation does not have its form',
    example: { errors: ['user_address: must be an address: 0x and 40 hex digits'] },
    says: ({ errors }) => ({
      error: 'Invalid request',
      message: errors.join('; '),
      details: { reason: 'invalid_invalidation', errors },
    }),
  },
};

/** In the order of the checks. */
const rows: RefusalRows<EventsRefusal> = {
  https_required,
  too_many_requests,
  unknown_endpoint,
  method_not_allowed,
  body_too_large,
  unsupported_encoding,
  invalid_body,
  invalid_event_data: {
    status: 400,
    when: 'a field is missing or breaks one of its limits',
    example: {
      errors: [
        'brandId: must be an address: 0x and 40 hex digits',
        'userEmail: must be a valid e-mail address',
      ],
    },
    says: ({ errors }) => ({ error: 'Invalid event data', message: errors.join('; '), details: { errors } }),
  },
  idempotency_key_reused,
  request_in_progress,
  brand_not_found: brandNotFound,
  automation_disabled: {
    status: 403,
    when: 'the brand has switched event rewards off',
    example: { brandId },
    says: ({ brandId }) => ({
      error: `Automation is disabled for brand ${brandId}`,
      message: 'The brand has switched event rewards off.',
      details: { reason: 'automation_disabled' },
    }),
  },
  brand_key_required: {
    status: 403,
    when: 'the brand takes such an event only with its key: any event, or one that names its user by an address',
    example: { what: 'direct_addresses', brandId },
    says: ({ what, brandId }) => ({
      error: `This event needs the key of brand ${brandId}`,
      message:
        what === 'events'
          ? "Send the event from the brand's server, with its key in the header Authorization."
          : "Name the user by an e-mail, or send the event from the brand's server, with its key in the header Authorization.",
      details: { reason: 'brand_key_required', brandId },
    }),
  },
  domain_not_authorized: {
    status: 403,
    when: "the event comes from a domain that is not the brand's, or names none",
    example: { host: 'elsewhere.example', brandId, brandName: 'Demo', configured: [demo.domain] },
    says: ({ host, brandId, configured }) => ({
      error: `Domain ${host ?? '(none given)'} is not authorized for brand ${brandId}, which is configured for ${configured.join(', ')}`,
      message:
        host !== undefined && isLoopback(host)
          ? `A page on this machine names the brand's domain itself: data-domain="${configured[0] ?? ''}" on the script tag, or \`domain\` in the event.`
          : 'Send the event from the configured domain or one of its subdomains.',
      details: {
        reason: 'domain_not_authorized',
        domain: host ?? null,
        brandId,
        configuredDomain: configured[0] ?? null,
      },
    }),
  },
  event_not_found: {
    status: 400,
    when: 'the brand has no active event of this name',
    example: { eventType: 'custom_unknown', brandId },
    says: ({ eventType, brandId }) => {
      const error = `Event not found: ${eventType}`;
      const message = `The brand ${brandId} has no active event of this name; names are case-sensitive.`;
      return { error, message, details: { errors: [error] } };
    },
  },
  channel_not_allowed: {
    status: 403,
    when: 'the event is limited to chat channels, and this channel is not one of them',
    example: { channel: '#general', allowed: ['#support'] },
    says: ({ channel, allowed }) => {
      const shown = channel.length > CHANNEL_SHOWN ? `${channel.slice(0, CHANNEL_SHOWN - 1)}…` : channel;
      return {
        error: `Channel ${shown} is not allowed for this event; allowed: ${allowed.join(', ')}`,
        message: 'The event is limited to the listed channels.',
        details: { reason: 'channel_not_allowed', channel: shown, allowedChannels: allowed },
      };
    },
  },
  duplicate: {
    status: 409,
    when: 'the same event of the same user was accepted less than 60 s ago',
    example: { existingEventId: eventId, passesAtMs: EXAMPLES_AT_MS + 42_000 },
    passesAtMs: ({ passesAtMs }) => passesAtMs,
    says: ({ existingEventId }, dialect) => ({
      error: dialect === 'earlier' ? 'Duplicate reward' : 'This event is already being processed',
      message: 'The same event of the same user was accepted a moment ago.',
      details: { reason: 'duplicate', existingEventId },
    }),
  },
  already_rewarded: {
    status: 409,
    when: 'the event is paid once for each value of a field (`oncePer`), and the user has the reward for this one',
    example: {
      field: 'order_id',
      value: 'A-1001',
      previousReward: { eventId, rewardAmount: 24, timestamp: EXAMPLES_AT_MS - 18 * HOUR_MS },
    },
    says: ({ field, value, previousReward }, dialect): Said => {
      const message = `The user was rewarded for ${field} ${value} before; the event is paid once for each ${field}.`;
      return {
        error: dialect === 'earlier' ? 'Duplicate reward' : 'Already rewarded',
        message,
        details: {
          message,
          reason: 'already_rewarded',
          field,
          existingEventId: previousReward.eventId,
          previousReward: { ...previousReward, timestamp: isoInstant(previousReward.timestamp) },
          retryable: false,
        },
      };
    },
  },
  cooldown: {
    status: 429,
    when: "the user's last reward for this event is younger than its cooldown",
    example: {
      cooldownMs: 24 * HOUR_MS,
      remainingMs: 6 * HOUR_MS,
      passesAtMs: EXAMPLES_AT_MS + 6 * HOUR_MS,
      previousReward: { eventId, rewardAmount: 100, timestamp: EXAMPLES_AT_MS - 18 * HOUR_MS },
    },
    passesAtMs: ({ passesAtMs }) => passesAtMs,
    says: ({ cooldownMs, passesAtMs, previousReward }, dialect): Said => {
      const earlier = dialect === 'earlier';
      const message = `The cooldown of this event has not expired; it ends at ${isoInstant(passesAtMs)}.`;
      return {
        error: earlier ? 'Duplicate reward' : 'Cooldown active',
        message,
        details: {
          message,
          reason: earlier ? 'cooldown_not_expired' : 'cooldown',
          cooldownSeconds: wholeSeconds(cooldownMs),
          previousReward: { ...previousReward, timestamp: isoInstant(previousReward.timestamp) },
        },
      };
    },
  },
  max_claims_reached: {
    status: 429,
    when: 'the user has claimed the event as often as it allows',
    example: { totalClaims: 1, maxClaims: 1 },
    says: ({ totalClaims, maxClaims }) => {
      const message = `The user has claimed this event ${totalClaims} of ${maxClaims} times.`;
      const details = { message, reason: 'max_claims_reached', totalClaims, maxClaims, retryable: false };
      return { error: 'Max claims reached', message, details };
    },
  },
  max_total_claims_reached: {
    status: 429,
    when: 'all users together have claimed it as often as it allows',
    example: { totalClaims: 100, maxTotalClaims: 100 },
    says: ({ totalClaims, maxTotalClaims }) => {
      const message = `All users together have claimed this event ${totalClaims} of ${maxTotalClaims} times.`;
      const counts = { totalClaims, maxTotalClaims, retryable: false };
      const details = { message, reason: 'max_total_claims_reached', ...counts };
      return { error: 'Max total claims reached', message, details };
    },
  },
  spend_limit: {
    status: 429,
    when: "the brand's events have earned what it lets them earn in an hour or a day",
    example: {
      span: 'hour',
      limit: 5_000,
      spent: 4_950,
      required: 100,
      endsAtMs: EXAMPLES_AT_MS + HOUR_MS / 2,
      passesAtMs: EXAMPLES_AT_MS + HOUR_MS / 2,
    },
    passesAtMs: ({ passesAtMs }) => passesAtMs,
    // The numbers are the brand's own business: whoever sees them can tell what its escrow pays.
    says: ({ span, passesAtMs }) => ({
      error: 'Spend limit reached',
      message: `The brand's events have earned what they may earn in ${span === 'hour' ? 'an hour' : 'a day'}; nothing was claimed.`,
      details: { reason: 'spend_limit', span, ...(passesAtMs === undefined && { retryable: false }) },
    }),
  },
  insufficient_brand_balance: {
    status: 500,
    when: "the brand's escrow does not cover the reward",
    example: { available: 60, required: 100 },
    says: ({ available, required }) => ({
      error: 'Insufficient brand balance',
      message: "The brand's escrow does not cover this reward; nothing was claimed.",
      details: {
        reason: 'insufficient_brand_balance',
        ...(available !== undefined && { available }),
        required,
      },
    }),
  },
  event_unknown: {
    status: 404,
    when: 'no rewarded event has this id',
    example: { eventId },
    says: () => ({
      error: 'Event unknown',
      message: 'No rewarded event has this id. It is the `eventId` of an answer to an event.',
    }),
  },
  payout_failed: {
    status: 500,
    when: 'the chain refused the payment',
    example: { eventId, reason: 'reverted' },
    says: ({ reason, eventId }) => ({
      error: 'Blockchain transaction failed',
      message: 'The reward could not be paid on chain.',
      details: { reason, eventId },
    }),
  },
  payout_pending: {
    status: 500,
    when: 'the chain is late; the reward is recorded and will be paid once',
    example: { eventId },
    says: ({ eventId }) => ({
      error: 'Blockchain transaction delayed',
      message:
        'The reward is recorded and will be paid once; the chain has not taken it yet. Do not send the event again.',
      details: { reason: 'payout_pending', eventId },
    }),
  },
  ...paymentRefusals,
  ...constraintsRefusals,
  database_unavailable,
  database_busy,
  internal_error,
};

export const eventsRefusals = refusalTable<EventsRefusal, RefusalBody>({
  form: refusalForm,
  leastRetrySeconds: 0,
  rows,
});

export const withBody = ['body_too_large', 'unsupported_encoding', 'invalid_body', ...anywhere] as const;
