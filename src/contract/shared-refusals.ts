/** What hosts have in common when they refuse: refusals that need no decision, and the form of their bodies. */
import { z } from 'zod';
import { named } from './endpoint.ts';
import { demo } from './examples.ts';
import { rateHeaders, type UsedWindow } from './headers.ts';
import { EXAMPLES_AT_MS, type RefusalRow, type RefusalRows, type Said } from './refusals.ts';
import { count, instant } from './shapes.ts';

export type RequestRefusal =
  | { code: 'https_required' }
  | { code: 'unknown_endpoint'; method: string; path: string }
  | { code: 'method_not_allowed'; method: string; path: string; allowed: readonly string[] }
  | { code: 'body_too_large'; limitBytes: number; bytes: number; items?: boolean | undefined }
  | { code: 'unsupported_encoding'; coding: string }
  | { code: 'invalid_body'; problem: string }
  | { code: 'idempotency_key_reused' }
  | { code: 'request_in_progress' }
  | { code: 'too_many_requests'; window: UsedWindow }
  | { code: 'database_unavailable' }
  | { code: 'database_busy' }
  | { code: 'internal_error' };

/** What any host may say without knowing what a request wanted. */
export type FrameRefusal = Extract<
  RequestRefusal,
  {
    code:
      | 'unknown_endpoint'
      | 'method_not_allowed'
      | 'https_required'
      | 'database_unavailable'
      | 'database_busy'
      | 'internal_error';
  }
>;

/** What a body can be refused for before its fields are looked at. */
export type BodyRefusal = Extract<
  RequestRefusal,
  { code: 'invalid_body' | 'body_too_large' | 'unsupported_encoding' }
>;

/** The rows that the hosts share; each host puts them where they stand in its own order of checks. */
export const requestRefusals: RefusalRows<RequestRefusal> = {
  https_required: {
    status: 403,
    when: 'the request came over plain HTTP (in production only)',
    says: {
      error: 'HTTPS required',
      message: 'Requests must use HTTPS.',
      details: { reason: 'https_required' },
    },
  },
  unknown_endpoint: {
    status: 404,
    when: 'there is no such path',
    example: { method: 'GET', path: '/rewards-api/nothing' },
    says: ({ method, path }) => ({
      error: 'Not found',
      message: `There is no ${method} ${path} here.`,
      details: { path },
    }),
  },
  method_not_allowed: {
    status: 405,
    when: 'the path exists, but not with this method',
    example: { method: 'PUT', path: '/rewards-api/health', allowed: ['GET', 'HEAD', 'OPTIONS'] },
    headers: ({ allowed }) => ({ Allow: allowed.join(', ') }),
    says: ({ method, path, allowed }) => ({
      error: 'Method not allowed',
      message: `${path} does not take ${method}; it takes ${allowed.join(', ')}.`,
      details: { reason: 'method_not_allowed', path, methods: allowed },
    }),
  },
  too_many_requests: {
    status: 429,
    when: "an address without a brand's key has asked more than it may within a minute",
    example: { window: { limit: 600, remaining: 0, resetAtMs: EXAMPLES_AT_MS + 42_000 } },
    passesAtMs: ({ window }) => window.resetAtMs,
    headers: ({ window }) => rateHeaders(window),
    says: ({ window: { limit } }) => ({
      error: 'Too many requests',
      message: `One address may send ${limit} requests a minute. A brand's server is not limited when it sends the brand's key.`,
      details: { reason: 'too_many_requests', limit },
    }),
  },
  body_too_large: {
    status: 413,
    when: 'the body has more than 10 KB',
    example: { limitBytes: 10_240, bytes: 10_241 },
    says: ({ limitBytes, bytes, items }) => ({
      error: 'Payload too large',
      message: `The body has ${bytes} bytes or more, and at most ${limitBytes} are taken${items ? ': send fewer items' : ''}.`,
      details: { maxBytes: limitBytes, bytes },
    }),
  },
  unsupported_encoding: {
    status: 415,
    when: 'the body is compressed',
    example: { coding: 'gzip' },
    headers: () => ({ 'Accept-Encoding': 'identity' }),
    says: ({ coding }) => ({
      error: 'Unsupported content encoding',
      message: `The body came with Content-Encoding ${coding}; send it uncompressed.`,
      details: { reason: 'unsupported_encoding', coding },
    }),
  },
  invalid_body: {
    status: 400,
    when: 'the body is not the JSON that is expected',
    example: {
      problem: 'body: must be valid JSON: at line 1, column 12, "}" came where a value is expected',
    },
    says: ({ problem }) => ({
      error: 'Invalid event data',
      message: problem,
      details: { errors: [problem] },
    }),
  },
  idempotency_key_reused: {
    status: 409,
    when: 'the Idempotency-Key was used before with another body',
    says: {
      error: 'Idempotency-Key was used for another request',
      message: 'The same key came with a different body; use a new key for a new request.',
      details: { reason: 'idempotency_key_reused' },
    },
  },
  request_in_progress: {
    status: 409,
    when: 'the first request with this Idempotency-Key is not answered yet',
    says: {
      error: 'A request with this Idempotency-Key is still in progress',
      message: 'Send the same request again in a moment to get its answer.',
      details: { reason: 'request_in_progress' },
    },
  },
  database_unavailable: {
    status: 503,
    when: 'the ledger cannot be reached',
    says: {
      error: 'Database not configured',
      message:
        'The ledger cannot be reached. Send the request again later: with an Idempotency-Key it is recorded once, even if only its answer was lost.',
      details: { reason: 'database_unavailable' },
    },
  },
  database_busy: {
    status: 503,
    when: 'the ledger has too much to do, or a row of it stays locked',
    retryAfterSeconds: 1,
    says: {
      error: 'Database busy',
      message: 'The ledger is busy; nothing was recorded. Try again in a moment.',
      details: { reason: 'database_busy' },
    },
  },
  internal_error: {
    status: 500,
    when: 'something is wrong with the service',
    says: {
      error: 'Internal server error',
      message: 'Something went wrong on our side.',
      details: { reason: 'internal_error' },
    },
  },
};

/** A body that is not a JSON object, at hosts whose requests are not events; they name the rule as well. */
export const invalidRequestBody: RefusalRow<Extract<RequestRefusal, { code: 'invalid_body' }>> = {
  status: 400,
  when: 'the body is not the JSON that is expected',
  example: { problem: 'body: must be a JSON object' },
  says: ({ problem }) => ({
    error: 'Invalid request',
    message: problem,
    details: { reason: 'invalid_body', errors: [problem] },
  }),
};

export const brandNotFound: RefusalRow<{ code: 'brand_not_found'; brandId: string }> = {
  status: 400,
  when: 'no brand is registered under this id',
  example: { brandId: demo.brandId },
  says: ({ brandId }) => {
    const error = `Brand not found: ${brandId}`;
    const message = 'No brand is registered under this brandId.';
    return { error, message, details: { errors: [error] } };
  },
};

/** The body of a refusal, of every host but the relay (contract: Errors, Body shapes). */
export interface RefusalBody {
  success: false;
  error: string;
  message: string;
  details: Record<string, unknown>;
}

export const refusalForm = ({ error, message, details = {} }: Said): RefusalBody => ({
  success: false,
  error: error ?? message,
  message,
  details,
});

export const refusalDetails = z
  .looseObject({
    errors: z.array(z.string()).meta({ description: 'Everything that is wrong, each with its field.' }),
    reason: z.string().meta({ description: 'Which rule refused, for programs.' }),
    message: z.string(),
    existingEventId: z.uuid().meta({ description: 'The event that this one duplicates.' }),
    cooldownSeconds: count().meta({ description: "The event's whole cooldown." }),
    previousReward: z
      .object({ eventId: z.uuid(), rewardAmount: z.int(), timestamp: instant() })
      .meta({ id: 'PreviousReward' }),
    remainingSeconds: count().meta({ description: 'Until the same event may pass.' }),
    retryAt: instant(),
    retryable: z.boolean().meta({ description: 'False: waiting does not help.' }),
    maxBytes: count().meta({ description: 'The most that a body may have.' }),
    bytes: count().meta({ description: 'What came, as far as it is known.' }),
    totalClaims: count(),
    maxClaims: z.int(),
    maxTotalClaims: z.int(),
    span: z
      .enum(['hour', 'day'])
      .meta({ id: 'SpendSpan', description: "Which of the brand's spend limits is reached." }),
    allowedChannels: z.array(z.string()),
    configuredDomain: z.string().nullable(),
    available: z.int().meta({ description: "RWT in escrow; only for requests with the brand's key." }),
    required: z.int().meta({ description: 'RWT needed.' }),
  })
  .partial()
  .meta({ id: 'RefusalDetails', description: 'Facts about the refusal; each code has its own.' });

export const refusalBody = named(
  'Refusal',
  z.object({
    success: z.literal(false),
    error: z.string().meta({ description: 'What is refused.' }),
    message: z.string().meta({ description: 'Why, for people.' }),
    details: refusalDetails,
  }),
);

/** Refusals that any request may get; the ledger is asked about the origin of each. */
export const anywhere = [
  'https_required',
  'too_many_requests',
  'internal_error',
  'database_unavailable',
  'database_busy',
] as const;
