/** Headers that several endpoints share: of answers that may be kept, of limits, and the Idempotency-Key. */
import { z } from 'zod';

export const CACHE_HEADER_NAMES = ['ETag', 'Cache-Control'] as const;

export const unchanged = {
  description: 'Nothing has changed since the state that `If-None-Match` names.',
  headers: CACHE_HEADER_NAMES,
};

export const ifNoneMatch = {
  in: 'header' as const,
  schema: z.object({
    'If-None-Match': z.string().optional().meta({ description: 'The `ETag` of an earlier answer.' }),
  }),
};

// The three headers that tell how far a limit is used up (contract: Errors, rate limiting).

/** How far a window is used up; `resetAtMs` is when all of `limit` pass again. */
export interface UsedWindow {
  limit: number;
  remaining: number;
  resetAtMs: number;
}

/** Seconds since 1970 in Reset, rounded up: at that moment the window is over. Names in small letters, as they are sent. */
export const rateHeaders = ({ limit, remaining, resetAtMs }: UsedWindow): Record<string, string> => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.ceil(resetAtMs / 1_000)),
});

// An Idempotency-Key, in the header or in the body.

const IDEMPOTENCY_KEY_MAX = 255;

export const idempotencyKeyField = z
  .string()
  .min(1)
  .max(IDEMPOTENCY_KEY_MAX)
  .regex(/^[\x21-\x7e]+$/)
  .meta({
    description: 'The same key with the same body gets the first answer again, word for word, for a day.',
  });

export const IDEMPOTENCY_KEY_PROBLEM = `idempotencyKey: must be 1 to ${IDEMPOTENCY_KEY_MAX} printable ASCII characters`;

/** The header as a parameter of an endpoint. */
export const idempotencyKeyHeader = {
  in: 'header' as const,
  schema: z.object({ 'Idempotency-Key': idempotencyKeyField.optional() }),
};
