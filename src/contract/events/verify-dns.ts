/** POST verify-dns (contract: Endpoints). */
import { z } from 'zod';
import { canonicalHost, configuredHost, DOMAIN_MAX } from '../../rules/brands/domain.ts';
import { sanitiseText } from '../../rules/sanitise.ts';
import { type Endpoint, named } from '../endpoint.ts';
import { demo } from '../examples.ts';
import { DOMAIN_PROBLEM, orRequired } from '../shapes.ts';
import { type EventsRefusalCode, withBody } from './refusals.ts';

export const verifyDnsBody = z.object({
  domain: z
    .string({ error: orRequired(DOMAIN_PROBLEM) })
    .transform((value, context) => {
      const domain = canonicalHost(sanitiseText(value).trim());
      if (domain && configuredHost(domain)) return domain;
      context.addIssue({ code: 'custom', message: DOMAIN_PROBLEM, input: value });
      return z.NEVER;
    })
    .meta({ description: 'The domain to look up.', maxLength: DOMAIN_MAX }),
});

const verifyDnsResult = z.object({
  success: z.boolean().meta({ description: 'False when DNS gave no answer.' }),
  domain: z.string(),
  dnsConfigured: z.boolean().meta({ description: 'Whether a valid record links the domain to a brand.' }),
  brandId: z.string().meta({ description: 'That brand, or empty.' }),
  message: z.string(),
});

const { brandId, domain } = demo;

export const verifyDnsEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'verifyDns',
  tag: 'Brands',
  method: 'post',
  path: '/verify-dns',
  prefixed: true,
  summary: 'Check whether DNS links a domain to a brand',
  description:
    'Reads the TXT records of `_rewards.<domain>`, of the form `brand_id=<brand id>;api_key=<verification token>`. A valid one links events of the domain to the brand; when it stays away for a day and several looks, they are unlinked. A domain above or below one of another brand is not linked. The token gives no other right: DNS is public.',
  body: named('VerifyDns', verifyDnsBody),
  examples: [{ summary: 'The demo domain', body: { domain } }],
  answers: {
    200: {
      description: 'What DNS says.',
      body: named('DnsResult', verifyDnsResult),
      example: {
        success: true,
        domain,
        dnsConfigured: true,
        brandId,
        message: `_rewards.${domain} links this domain to the brand`,
      },
    },
  },
  refusals: [...withBody, 'invalid_event_data'],
};
