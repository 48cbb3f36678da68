/**
 * What a checkout may be asked for: where a buyer may be sent back to after a payment, pages of the brand and no others,
 * and the e-mail addresses that processors take.
 */
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

// Which e-mail addresses a payment processor sends receipts to: fewer than there are.

/** Letters, digits and the marks of RFC 5322 in the local part; labels of DNS, at least two, behind the @. */
const PLAIN =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** RFC 5321's limit, which processors hold. */
const LOCAL_MAX = 64;

/**
 * Whether the processor takes an address, in the form of `emailKey`. It refuses quoted local parts, letters outside ASCII
 * in front of the @, and domains of one label, and makes no session then.
 */
export const isBuyerEmail = (email: string): boolean => PLAIN.test(email) && email.indexOf('@') <= LOCAL_MAX;
