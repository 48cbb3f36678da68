/** The whole error table of the register host: which refusal is answered with which status, text and facts. */
import { platformNames } from '../../rules/platforms.ts';
import type { RegistrationProblem } from '../../rules/registration.ts';
import { demo } from '../examples.ts';
import { rateHeaders, type UsedWindow } from '../headers.ts';
import { EXAMPLES_AT_MS, type RefusalRows, refusalTable } from '../refusals.ts';
import { ADDRESS_PROBLEM, EMAIL_PROBLEM } from '../shapes.ts';
import {
  type BodyRefusal,
  brandNotFound,
  type FrameRefusal,
  invalidRequestBody,
  type RefusalBody,
  type RequestRefusal,
  refusalForm,
  requestRefusals,
} from '../shared-refusals.ts';

export type RegisterRefusal =
  | FrameRefusal
  | Extract<RequestRefusal, { code: 'too_many_requests' }>
  | BodyRefusal
  | RegistrationProblem
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'brand_key_required'; brandId: string }
  | { code: 'origin_not_allowed'; brandId: string; origin: string }
  | { code: 'rate_limit_exceeded'; brandId: string; window: UsedWindow };
export type RegisterRefusalCode = RegisterRefusal['code'];

const { brandId } = demo;
const { https_required, too_many_requests, unknown_endpoint, method_not_allowed, ...bodies } =
  requestRefusals;
const { body_too_large, unsupported_encoding, database_unavailable, database_busy, internal_error } = bodies;

/** In the order of the checks. */
const rows: RefusalRows<RegisterRefusal> = {
  https_required,
  too_many_requests,
  unknown_endpoint,
  method_not_allowed,
  body_too_large,
  unsupported_encoding,
  invalid_body: invalidRequestBody,
  mixed_forms: {
    status: 400,
    when: 'the body has both an e-mail and an account on a platform',
    says: {
      error: 'Invalid request',
      message: 'Send either email, or oauth_provider, oauth_user_id and oauth_username, not both.',
      details: { reason: 'mixed_forms' },
    },
  },
  missing_fields: {
    status: 400,
    when: 'a field is missing',
    example: { missing: ['oauth_user_id'] },
    says: ({ missing }) => ({
      error: 'Missing required fields',
      message: `Missing: ${missing.join(', ')}.`,
      details: { reason: 'missing_fields', missing, errors: missing.map((field) => `${field}: is required`) },
    }),
  },
  invalid_brand_id: {
    status: 400,
    when: 'brand_id is not an address',
    says: () => {
      const problem = `brand_id: ${ADDRESS_PROBLEM}`;
      const details = { reason: 'invalid_brand_id', errors: [problem] };
      return { error: 'Invalid brand ID', message: problem, details };
    },
  },
  invalid_email: {
    status: 400,
    when: 'email is not an e-mail address',
    says: () => {
      const problem = `email: ${EMAIL_PROBLEM}`;
      return {
        error: 'Invalid email',
        message: problem,
        details: { reason: 'invalid_email', errors: [problem] },
      };
    },
  },
  invalid_oauth_provider: {
    status: 400,
    when: 'the service does not know the platform',
    example: { provider: 'myspace', allowed: platformNames },
    says: ({ provider, allowed }) => {
      const problem = `oauth_provider: must be one of ${allowed.join(', ')}`;
      const details = { reason: 'invalid_oauth_provider', errors: [problem], provider, allowed };
      return { error: 'Invalid OAuth provider', message: problem, details };
    },
  },
  invalid_oauth_user_id: {
    status: 400,
    when: "the id does not have the form of its platform's ids",
    example: { provider: 'discord', expected: '17 to 20 digits' },
    says: ({ provider, expected }) => {
      const problem = `oauth_user_id: must be ${expected}, as a text: long numbers lose digits`;
      const details = { reason: 'invalid_oauth_user_id', errors: [problem], provider };
      return { error: `Invalid ${provider} user ID`, message: problem, details };
    },
  },
  invalid_oauth_username: {
    status: 400,
    when: 'the name is too long',
    example: { limit: 100 },
    says: ({ limit }) => {
      const problem = `oauth_username: must be a text of at most ${limit} characters`;
      const details = { reason: 'invalid_oauth_username', errors: [problem] };
      return { error: 'Invalid OAuth username', message: problem, details };
    },
  },
  brand_not_found: brandNotFound,
  brand_key_required: {
    status: 401,
    when: 'the brand requires its key, and the request does not carry it',
    example: { brandId },
    says: ({ brandId }) => ({
      error: 'Unauthorized',
      message: `Brand ${brandId} gives wallets only to callers with its key: send Authorization: Bearer <API_KEY>.`,
      details: { reason: 'brand_key_required' },
    }),
  },
  origin_not_allowed: {
    status: 403,
    when: "the page that asks is not the brand's, and the request does not carry its key",
    example: { brandId, origin: 'https://elsewhere.example' },
    says: ({ brandId, origin }) => ({
      error: 'Origin not allowed',
      message: `Pages of ${origin} may not ask for wallets of brand ${brandId}.`,
      details: { reason: 'origin_not_allowed', origin },
    }),
  },
  rate_limit_exceeded: {
    status: 429,
    when: 'the new wallets of this minute are used up: those with the key, or those without it',
    example: { brandId, window: { limit: 100, remaining: 0, resetAtMs: EXAMPLES_AT_MS + 42_000 } },
    passesAtMs: ({ window }) => window.resetAtMs,
    headers: ({ window }) => rateHeaders(window),
    says: ({ window: { limit } }) => ({
      error: 'Rate limit exceeded',
      message: `The brand has had ${limit} new wallets within a minute; try again later. Wallets that exist are still answered.`,
      details: { reason: 'rate_limit_exceeded', limit },
    }),
  },
  database_unavailable,
  database_busy,
  internal_error,
};

export const registerRefusals = refusalTable<RegisterRefusal, RefusalBody>({
  form: refusalForm,
  leastRetrySeconds: 1,
  rows,
});
