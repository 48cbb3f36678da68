/** The whole error table of the services host: which refusal is answered with which status, text and facts. */
import { demo } from '../examples.ts';
import { type RefusalRows, refusalTable } from '../refusals.ts';
import {
  anywhere,
  type BodyRefusal,
  brandNotFound,
  type FrameRefusal,
  invalidRequestBody,
  type RefusalBody,
  type RequestRefusal,
  refusalForm,
  requestRefusals,
} from '../shared-refusals.ts';
import { type RedemptionsRefusal, redemptionRefusals } from './redemption-refusals.ts';
import { type StreakRefusal, streakRefusals } from './streak/streak-refusals.ts';

export type ServicesRefusal =
  | RedemptionsRefusal
  | Extract<RequestRefusal, { code: 'idempotency_key_reused' | 'request_in_progress' }>
  | FrameRefusal
  | Extract<RequestRefusal, { code: 'too_many_requests' }>
  | BodyRefusal
  /** Fields that are missing or wrong, each prefixed with its name. */
  | { code: 'invalid_request'; errors: string[] }
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'brand_key_required'; brandId: string }
  | { code: 'origin_not_allowed'; brandId: string; origin: string }
  /** The access token that came is not valid. */
  | { code: 'unauthorized'; refusal: { code: string; message: string } }
  | { code: 'identity_unavailable' }
  | AchievementRefusal
  | StreakRefusal;
export type ServicesRefusalCode = ServicesRefusal['code'];

const { brandId } = demo;
const { https_required, too_many_requests, unknown_endpoint, method_not_allowed, ...bodies } =
  requestRefusals;
const { idempotency_key_reused, request_in_progress } = bodies;
const { body_too_large, unsupported_encoding, database_unavailable, database_busy, internal_error } = bodies;

/** Why a report of progress is not taken. */
type AchievementRefusal =
  /** `known`: those that clients report. */
  | { code: 'achievement_not_found'; achievementType: string; known: string[] }
  | { code: 'achievement_is_counted'; achievementType: string; metric: string };

const achievementRefusals: RefusalRows<AchievementRefusal> = {
  achievement_not_found: {
    status: 400,
    when: 'the brand has no achievement of this type',
    example: { achievementType: 'unknown', known: ['chatterbox'] },
    says: ({ achievementType, known }) => {
      const shown = achievementType.slice(0, 50);
      return {
        error: `Achievement not found: ${shown}`,
        message:
          known.length > 0
            ? `The brand has no achievement ${shown}; progress is reported for ${known.join(', ')}.`
            : `The brand has no achievement ${shown}, nor any other that progress is reported for.`,
        details: { reason: 'achievement_not_found', known },
      };
    },
  },
  achievement_is_counted: {
    status: 400,
    when: 'the service counts what the achievement is about itself',
    example: { achievementType: 'regular', metric: 'claims' },
    says: ({ achievementType, metric }) => ({
      error: 'Achievement is counted by the service',
      message: `${achievementType} follows from the user's ${metric}, which the ledger has; only achievements of the metric manual are reported.`,
      details: { reason: 'achievement_is_counted', metric },
    }),
  },
};

/** In the order of the checks. */
const rows: RefusalRows<ServicesRefusal> = {
  https_required,
  too_many_requests,
  unknown_endpoint,
  method_not_allowed,
  body_too_large,
  unsupported_encoding,
  invalid_body: invalidRequestBody,
  invalid_request: {
    status: 400,
    when: 'a field is missing or breaks one of its limits',
    example: {
      errors: [
        'brandId: must be an address: 0x and 40 hex digits',
        'userIdentifier: must be an e-mail, an address, or an id on the platform that `platform` names',
      ],
    },
    says: ({ errors }) => ({
      error: 'Invalid request',
      message: errors.join('; '),
      details: { reason: 'invalid_request', errors },
    }),
  },
  unauthorized: {
    status: 401,
    when: "the request carries an access token in place of the brand's key, and it is not valid",
    example: { refusal: { code: 'expired', message: 'the token has expired' } },
    headers: () => ({ 'WWW-Authenticate': 'Bearer' }),
    says: ({ refusal: { code, message } }) => ({
      error: 'Unauthorized',
      message: `Unauthorized: ${message}`,
      details: { reason: 'unauthorized', why: code },
    }),
  },
  identity_unavailable: {
    status: 503,
    when: "the identity provider's keys cannot be fetched, so that access tokens cannot be verified",
    says: {
      error: 'Identity provider unavailable',
      message: 'Access tokens cannot be verified at the moment; try again later.',
      details: { reason: 'identity_unavailable' },
    },
  },
  brand_not_found: brandNotFound,
  brand_key_required: {
    status: 401,
    when: 'the brand takes this only with its key, and the request does not carry it',
    example: { brandId },
    says: ({ brandId }) => ({
      error: 'Unauthorized',
      message: `Brand ${brandId} takes this only from callers with its key: send Authorization: Bearer <API_KEY>.`,
      details: { reason: 'brand_key_required' },
    }),
  },
  origin_not_allowed: {
    status: 403,
    when: "the page that asks is not the brand's, and the request does not carry its key",
    example: { brandId, origin: 'https://elsewhere.example' },
    says: ({ brandId, origin }) => ({
      error: 'Origin not allowed',
      message: `Pages of ${origin} may not write for users of brand ${brandId}.`,
      details: { reason: 'origin_not_allowed', origin },
    }),
  },
  idempotency_key_reused,
  request_in_progress,
  ...redemptionRefusals,
  ...streakRefusals,
  ...achievementRefusals,
  database_unavailable,
  database_busy,
  internal_error,
};

export const servicesRefusals = refusalTable<ServicesRefusal, RefusalBody>({
  form: refusalForm,
  leastRetrySeconds: 1,
  rows,
});

/** Refusals that any question about a brand's user may get. */
export const ofQuestion = ['invalid_request', 'brand_not_found', ...anywhere] as const;
/** The same of an endpoint that takes a body. */
export const withBody = ['body_too_large', 'unsupported_encoding', 'invalid_body', ...ofQuestion] as const;
/** The same of an endpoint that writes what is then shown to others. */
export const ofWrite = [...withBody, 'brand_key_required', 'origin_not_allowed'] as const;
