/** Where a buyer may be sent back to after a payment: pages of the brand, and no others. */
import { parseUrl } from '../../lib/url.ts';
import type { BrandProfile } from '../brands/brand.ts';
import { hostOfUrl, isLoopback, judgeDomain } from '../brands/domain.ts';

/** Longer than any shop's, and within what the processor takes. */
export const RETURN_URL_MAX = 2_048;

/** The processor puts the session's id here. In a path the parser would spell its braces otherwise. */
const PLACEHOLDER = '{CHECKOUT_SESSION_ID}';

/**
 * A web address as it is sent to the processor, with its host: what is judged is what browsers will open. Undefined
 * for what is not http or https, has credentials, or is too long.
 */
export function readReturnUrl(text: string): { url: string; host: string; isHttps: boolean } | undefined {
  const host = text.length > RETURN_URL_MAX ? undefined : hostOfUrl(text);
  const parsed = host === undefined ? undefined : parseUrl(text);
  if (host === undefined || !parsed) return undefined;
  const url = parsed.href.replaceAll(encodeURI(PLACEHOLDER), PLACEHOLDER);
  return { url, host, isHttps: parsed.protocol === 'https:' };
}

/**
 * Whether a page belongs to the brand: https on one of its domains or below. `loopback`: pages of this very machine
 * count too, http as well. `otherDomains`: a host counts for the brand of the nearest domain only.
 */
export function isOwnPage(
  page: { host: string; isHttps: boolean },
  brand: Pick<BrandProfile, 'domains' | 'platforms' | 'domainless'>,
  { loopback, otherDomains }: { loopback: boolean; otherDomains: readonly string[] },
): boolean {
  if (loopback && isLoopback(page.host)) return true;
  const { authorized } = judgeDomain(
    { domain: page.host },
    { ...brand, platforms: {} },
    { ownHosts: [], otherDomains },
  );
  return page.isHttps && authorized;
}
