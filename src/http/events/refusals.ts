/** The whole error table of the event handler: which refusal is answered with which status, text and facts (contract: Errors). */
import type { KeyRefusal } from '../../actions/answer-once.ts';
import type { EventRefusal } from '../../actions/events/reward-event.ts';

/** Refusals that need no decision: the request itself is not one that the service can take. */
export type RequestRefusal =
  | { code: 'invalid_body'; problem: string }
  | { code: 'body_too_large'; limitBytes: number }
  | { code: 'unknown_endpoint'; method: string; path: string }
  | { code: 'https_required' }
  | KeyRefusal
  | { code: 'database_unavailable' }
  | { code: 'internal_error' };

export type Refusal = EventRefusal | RequestRefusal;

export interface RefusalReply {
  status: 400 | 401 | 403 | 404 | 409 | 413 | 429 | 500 | 503;
  /** Seconds, when a later try may pass. */
  retryAfterSeconds?: number;
  body: { success: false; error: string; message: string; details: Record<string, unknown> };
}

/** The contract gives two wordings for a cooldown; `compat.errors` picks one. */
export type ErrorDialect = 'current' | 'earlier';

/** Waiting does not help where a limit is used up, only a change of the rule: clients that try again anyway shall wait a day. */
const USED_UP_RETRY_SECONDS = 86_400;

const seconds = (ms: number) => Math.ceil(ms / 1000);
const instant = (ms: number) => new Date(ms).toISOString();

/** The documented answer for a refusal. `nowMs` is the clock that the decision was made on. */
export function refusalReply(
  refusal: Refusal,
  context: { nowMs: number; dialect: ErrorDialect },
): RefusalReply {
  const reply = (
    status: RefusalReply['status'],
    error: string,
    message: string,
    details: Record<string, unknown> = {},
  ): RefusalReply => ({ status, body: { success: false, error, message, details } });
  const later = (answer: RefusalReply, passesAtMs: number): RefusalReply => {
    const remainingSeconds = Math.max(0, seconds(passesAtMs - context.nowMs));
    Object.assign(answer.body.details, { remainingSeconds, retryAt: instant(passesAtMs) });
    return { ...answer, retryAfterSeconds: remainingSeconds };
  };

  switch (refusal.code) {
    case 'invalid_body':
      return reply(400, 'Invalid event data', refusal.problem, { errors: [refusal.problem] });
    case 'invalid_event_data':
      return reply(400, 'Invalid event data', refusal.errors.join('; '), { errors: refusal.errors });
    case 'brand_not_found': {
      const text = `Brand not found: ${refusal.brandId}`;
      return reply(400, text, 'No brand is registered under this brandId.', { errors: [text] });
    }
    case 'event_not_found': {
      const text = `Event not found: ${refusal.eventType}`;
      return reply(
        400,
        text,
        `The brand ${refusal.brandId} has no active event of this name; names are case-sensitive.`,
        {
          errors: [text],
        },
      );
    }
    case 'automation_disabled':
      return reply(
        403,
        `Automation is disabled for brand ${refusal.brandId}`,
        'The brand has switched event rewards off.',
        {
          reason: 'automation_disabled',
        },
      );
    case 'domain_not_authorized': {
      const configured = refusal.configured.join(', ');
      const host = refusal.host ?? '(none given)';
      return reply(
        403,
        `Domain ${host} is not authorized for brand ${refusal.brandId}, which is configured for ${configured}`,
        'Send the event from the configured domain or one of its subdomains.',
        {
          reason: 'domain_not_authorized',
          domain: refusal.host ?? null,
          brandId: refusal.brandId,
          configuredDomain: refusal.configured[0] ?? null,
        },
      );
    }
    case 'channel_not_allowed':
      return reply(
        403,
        `Channel ${refusal.channel} is not allowed for this event; allowed: ${refusal.allowed.join(', ')}`,
        'The event is limited to the listed channels.',
        { reason: 'channel_not_allowed', channel: refusal.channel, allowedChannels: refusal.allowed },
      );
    case 'duplicate': {
      const answer = reply(
        409,
        'This event is already being processed',
        'The same event of the same user was accepted a moment ago.',
        { reason: 'duplicate', existingEventId: refusal.existingEventId },
      );
      return later(answer, refusal.passesAtMs);
    }
    case 'cooldown': {
      const earlier = context.dialect === 'earlier';
      const message = `The cooldown of this event has not expired; it ends at ${instant(refusal.passesAtMs)}.`;
      const answer = reply(429, earlier ? 'Duplicate reward' : 'Cooldown active', message, {
        message,
        reason: earlier ? 'cooldown_not_expired' : 'cooldown',
        cooldownSeconds: seconds(refusal.cooldownMs),
        previousReward: { ...refusal.previousReward, timestamp: instant(refusal.previousReward.timestamp) },
      });
      return later(answer, refusal.passesAtMs);
    }
    case 'max_claims_reached': {
      const message = `The user has claimed this event ${refusal.totalClaims} of ${refusal.maxClaims} times.`;
      const answer = reply(429, 'Max claims reached', message, {
        message,
        reason: 'max_claims_reached',
        totalClaims: refusal.totalClaims,
        maxClaims: refusal.maxClaims,
      });
      return { ...answer, retryAfterSeconds: USED_UP_RETRY_SECONDS };
    }
    case 'max_total_claims_reached': {
      const message = `All users together have claimed this event ${refusal.totalClaims} of ${refusal.maxTotalClaims} times.`;
      const answer = reply(429, 'Max total claims reached', message, {
        message,
        reason: 'max_total_claims_reached',
        totalClaims: refusal.totalClaims,
        maxTotalClaims: refusal.maxTotalClaims,
      });
      return { ...answer, retryAfterSeconds: USED_UP_RETRY_SECONDS };
    }
    case 'insufficient_brand_balance':
      return reply(
        500,
        'Insufficient brand balance',
        "The brand's escrow does not cover this reward; nothing was claimed.",
        {
          reason: 'insufficient_brand_balance',
          available: refusal.available,
          required: refusal.required,
        },
      );
    case 'payout_failed':
      return reply(500, 'Blockchain transaction failed', 'The reward could not be paid on chain.', {
        reason: refusal.reason,
        eventId: refusal.eventId,
      });
    case 'payout_pending':
      return reply(
        500,
        'Blockchain transaction delayed',
        'The reward is recorded and will be paid once; the chain has not taken it yet. Do not send the event again.',
        { reason: 'payout_pending', eventId: refusal.eventId },
      );
    case 'body_too_large':
      return reply(413, 'Payload too large', `The body may have at most ${refusal.limitBytes} bytes.`, {
        limitBytes: refusal.limitBytes,
      });
    case 'unknown_endpoint':
      return reply(404, 'Not found', `There is no ${refusal.method} ${refusal.path} here.`, {
        path: refusal.path,
      });
    case 'https_required':
      return reply(403, 'HTTPS required', 'Requests must use HTTPS.', { reason: 'https_required' });
    case 'idempotency_key_reused':
      return reply(
        409,
        'Idempotency-Key was used for another request',
        'The same key came with a different body; use a new key for a new request.',
        { reason: 'idempotency_key_reused' },
      );
    case 'request_in_progress':
      return reply(
        409,
        'A request with this Idempotency-Key is still in progress',
        'Send the same request again in a moment to get its answer.',
        { reason: 'request_in_progress' },
      );
    case 'database_unavailable':
      return reply(
        503,
        'Database not configured',
        'The ledger cannot be reached; nothing was recorded. Try again later.',
        {
          reason: 'database_unavailable',
        },
      );
    case 'internal_error':
      return reply(500, 'Internal server error', 'Something went wrong on our side.', {
        reason: 'internal_error',
      });
  }
}
