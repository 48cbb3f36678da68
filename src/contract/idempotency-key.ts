/** An Idempotency-Key, in the header or in the body. */
import { z } from 'zod';

export const IDEMPOTENCY_KEY_MAX = 255;

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
