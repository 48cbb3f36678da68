/** A brand's id as a question names it. */
import { z } from 'zod';
import { sanitiseText } from '../../rules/sanitise.ts';
import { addressKey } from '../../rules/user-key.ts';

export const BRAND_ID_PROBLEM = 'must be an address: 0x and 40 hex digits';

/** What the description says of every `brandId`. */
export const brandIdMeta = {
  description: "The brand's wallet address; any case in, lower case out.",
  pattern: '^0x[0-9a-fA-F]{40}$',
};

/** Any case in, lower case out. */
export const brandIdField = z
  .string({ error: BRAND_ID_PROBLEM })
  .transform((value, context) => {
    const brandId = addressKey(sanitiseText(value));
    if (brandId) return brandId;
    context.addIssue({ code: 'custom', message: BRAND_ID_PROBLEM, input: value });
    return z.NEVER;
  })
  .meta(brandIdMeta);
