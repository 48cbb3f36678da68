/** The body of verify-dns. */
import { z } from 'zod';
import { canonicalHost, DOMAIN_MAX } from '../../rules/brands/domain.ts';
import { sanitiseText } from '../../rules/sanitise.ts';

export const verifyDnsBody = z.object({
  domain: z
    .string()
    .transform((value, context) => {
      const domain = canonicalHost(sanitiseText(value).trim());
      if (domain) return domain;
      context.addIssue({ code: 'custom', message: 'must be a valid domain', input: value });
      return z.NEVER;
    })
    .meta({ description: 'The domain to look up.', maxLength: DOMAIN_MAX }),
});
