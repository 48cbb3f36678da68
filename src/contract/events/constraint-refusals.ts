/** The refusals of invalidations (contract: POST /constraint-updater/invalidate-external-api). */
import type { RefusalRows } from '../refusals.ts';

export type ConstraintsRefusal =
  | { code: 'api_key_required' }
  | { code: 'missing_required_field'; field: string }
  /** Fields that are wrong, each prefixed with its name. */
  | { code: 'invalid_invalidation'; errors: string[] };

/** In the order of the checks. */
export const constraintsRefusals: RefusalRows<ConstraintsRefusal> = {
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
