/** The whole error table of the register host: which refusal is answered with which status, text and facts. */
import type { Context } from 'hono';
import type { PregenerateRefusal } from '../../actions/wallets/pregenerate-wallet.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RegistrationProblem } from '../../rules/registration.ts';
import { type RefusalReply, type RequestRefusal, refusalReply } from '../events/refusals.ts';
import type { FrameRefusal } from '../frame/host-frame.ts';
import { rateHeaders } from '../frame/rate-headers.ts';

export type RegisterRefusal =
  | FrameRefusal
  | Extract<RequestRefusal, { code: 'invalid_body' | 'body_too_large' }>
  | RegistrationProblem
  | PregenerateRefusal;

export interface RegisterReply extends RefusalReply {
  headers?: Record<string, string>;
}

/** The documented answer for a refusal; its body has the form of the event handler's. */
export function registerReply(refusal: RegisterRefusal, { nowMs }: { nowMs: number }): RegisterReply {
  const reply = (
    status: RefusalReply['status'],
    error: string,
    message: string,
    details: Record<string, unknown> = {},
  ): RegisterReply => ({
    status,
    body: { success: false, error, message, details: { reason: refusal.code, ...details } },
  });
  switch (refusal.code) {
    case 'invalid_body':
      return reply(400, 'Invalid request', refusal.problem, { errors: [refusal.problem] });
    case 'mixed_forms':
      return reply(
        400,
        'Invalid request',
        'Send either email, or oauth_provider, oauth_user_id and oauth_username, not both.',
      );
    case 'missing_fields': {
      const { missing } = refusal;
      return reply(400, 'Missing required fields', `Missing: ${missing.join(', ')}.`, {
        missing,
        errors: missing.map((field) => `${field}: is required`),
      });
    }
    case 'invalid_brand_id': {
      const problem = 'brand_id: must be an address: 0x and 40 hex digits';
      return reply(400, 'Invalid brand ID', problem, { errors: [problem] });
    }
    case 'invalid_oauth_provider': {
      const { provider, allowed } = refusal;
      const problem = `oauth_provider: must be one of ${allowed.join(', ')}`;
      return reply(400, 'Invalid OAuth provider', problem, { errors: [problem], provider, allowed });
    }
    case 'invalid_oauth_user_id': {
      const { provider, expected } = refusal;
      const problem = `oauth_user_id: must be ${expected}; send it as a text, since long numbers lose digits`;
      return reply(400, `Invalid ${provider} user ID`, problem, { errors: [problem], provider });
    }
    case 'invalid_oauth_username': {
      const problem = `oauth_username: must be a text of at most ${refusal.limit} characters`;
      return reply(400, 'Invalid OAuth username', problem, { errors: [problem] });
    }
    case 'invalid_email': {
      const problem = 'email: must be a valid e-mail address';
      return reply(400, 'Invalid email', problem, { errors: [problem] });
    }
    case 'brand_key_required':
      return reply(
        401,
        'Unauthorized',
        `Brand ${refusal.brandId} gives wallets only to callers with its key: send Authorization: Bearer <API_KEY>.`,
      );
    case 'rate_limit_exceeded': {
      const { window } = refusal;
      const remainingSeconds = Math.max(1, Math.ceil((window.resetAtMs - nowMs) / 1_000));
      const message = `The brand has had ${window.limit} new wallets within a minute; wallets that exist are answered all the same.`;
      const retryAt = new Date(window.resetAtMs).toISOString();
      return {
        ...reply(429, 'Rate limit exceeded', message, { limit: window.limit, remainingSeconds, retryAt }),
        retryAfterSeconds: remainingSeconds,
        headers: rateHeaders(window),
      };
    }
    default:
      return refusalReply(refusal, { nowMs, dialect: 'current' });
  }
}

export interface RegisterRefuser {
  answer(context: Context, refusal: RegisterRefusal): Response;
}

export function createRegisterRefuser({ clock }: { clock: Pick<Clock, 'now'> }): RegisterRefuser {
  return {
    answer(context, refusal) {
      const {
        status,
        body,
        retryAfterSeconds,
        headers = {},
      } = registerReply(refusal, { nowMs: clock.now() });
      if (retryAfterSeconds !== undefined) context.header('Retry-After', String(retryAfterSeconds));
      for (const [name, value] of Object.entries(headers)) context.header(name, value);
      return context.json(body, status);
    },
  };
}
