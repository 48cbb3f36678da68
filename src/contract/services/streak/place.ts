/** Where a streak's activity happened: what the domain rule of a brand judges where the activity is paid, as it judges events. */
import { z } from 'zod';
import { canonicalHost, DOMAIN_MAX, type EventOrigin, hostOfUrl } from '../../../rules/brands/domain.ts';
import { sanitiseValue } from '../../../rules/sanitise.ts';
import { DOMAIN_PROBLEM, OBJECT_PROBLEM, trimmedText } from '../../shapes.ts';

/** The contract's limit for the URL of an event. */
const SOURCE_URL_MAX = 2_048;

/** The same fields as an event has, judged the same way. */
export const placeFields = {
  domain: trimmedText()
    .refine((domain) => domain.length <= DOMAIN_MAX, `must have at most ${DOMAIN_MAX} characters`)
    .refine((domain) => canonicalHost(domain) !== undefined, DOMAIN_PROBLEM)
    .meta({
      description:
        'Where it happened, as an event names it: needed where the activity pays, unless `domainless` is `allow` or the brand’s key comes along. When absent, the host of `sourceUrl`, then of the Origin header.',
      maxLength: DOMAIN_MAX,
    })
    .optional(),
  sourceUrl: trimmedText()
    .refine((url) => url.length <= SOURCE_URL_MAX, `must have at most ${SOURCE_URL_MAX} characters`)
    .refine((url) => hostOfUrl(url) !== undefined, 'must be an HTTP or HTTPS URL')
    .meta({ description: 'The page on which it happened: HTTP or HTTPS.', maxLength: SOURCE_URL_MAX })
    .optional(),
  metadata: z
    .record(z.string(), z.unknown(), { error: OBJECT_PROBLEM })
    .transform((metadata) => (sanitiseValue(metadata) ?? {}) as Record<string, unknown>)
    .meta({
      description:
        "Facts about the activity, of which only the brand's accounts on chat platforms count: `bot_username`, `server_id`, `guild_id`, `twitterHandle`, as in an event.",
    })
    .optional(),
};

/** What a request says of its place; `origin` is the header. */
export function placeOf(
  {
    domain,
    sourceUrl,
    metadata = {},
  }: {
    domain?: string | undefined;
    sourceUrl?: string | undefined;
    metadata?: Record<string, unknown> | undefined;
  },
  origin: string | undefined,
): EventOrigin & { metadata: Record<string, unknown> } {
  return {
    domain: domain === undefined ? undefined : canonicalHost(domain),
    sourceUrl,
    origin,
    metadata,
  };
}
