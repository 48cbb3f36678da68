/** Which host an event comes from, and whether that host belongs to a brand (contract: Domain rule). */
import { getPublicSuffix } from 'tldts';
import { memoize } from '../../lib/memoize.ts';
import { parseUrl } from '../../lib/url.ts';
import { platformName } from '../platforms.ts';
import { sanitiseText } from '../sanitise.ts';
import { addressKey } from '../user-key.ts';
import type { BrandId, BrandProfile } from './brand.ts';

/** The contract's limit for a domain, and DNS's own. */
export const DOMAIN_MAX = 253;
/** A label of letters, digits, underscores (DNS has such names, and browsers open them) and inner hyphens. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * A host in the one form in which hosts are compared: ASCII, lower case, no trailing dot, no port.
 * Undefined unless the text is a plain host name or IPv4 address.
 */
export function canonicalHost(text: string): string | undefined {
  // Characters that could make a URL parser see a different host than a reader does are refused before parsing.
  if (text.length > 2 * DOMAIN_MAX || /[\s/\\?#@%[\]<>^|*]/.test(text)) return undefined;
  return hostOf(`http://${text}`);
}

/** The canonical host of an http or https URL without credentials, else undefined. */
export function hostOfUrl(text: string): string | undefined {
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1];
  // The parser skips an empty authority and takes the host from elsewhere in the text.
  if (!authority || /[\s@%\\]/.test(authority)) return undefined;
  return hostOf(text);
}

function hostIn(url: string): string | undefined {
  const parsed = parseUrl(url);
  if (!parsed || parsed.username || parsed.password) return undefined;
  const host = parsed.hostname.endsWith('.') ? parsed.hostname.slice(0, -1) : parsed.hostname;
  if (host.length > DOMAIN_MAX || !host.split('.').every((label) => LABEL.test(label))) return undefined;
  return host;
}

/** The domains of brands come with every event. */
const hostOf = memoize(hostIn);

/** Whether every machine means itself by this host: a page under development is served there. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(host);

/** A brand's own entry, which may be written as a URL, reduced to its host; undefined for a public suffix. */
export function configuredHost(text: string): string | undefined {
  const host = /^https?:\/\//i.test(text) ? hostOfUrl(text) : canonicalHost(text.split('/')[0] ?? '');
  if (host === 'localhost') return host;
  if (!host || getPublicSuffix(host, { allowPrivateDomains: true }) === host) return undefined;
  return host;
}

/** Whether `host` is `configured` or one of its subdomains; both canonical. */
export const isWithin = (host: string, configured: string) =>
  host.endsWith(configured) && (host.length === configured.length || host.at(-configured.length - 1) === '.');

/** How long the nearest of these domains at or above a host is; 0 where there is none. */
function nearestLength(host: string, domains: readonly string[]): number {
  let length = 0;
  for (const domain of domains) if (domain.length > length && isWithin(host, domain)) length = domain.length;
  return length;
}

export interface EventOrigin {
  /** Canonical, as sent in `domain`. */
  domain?: string | undefined;
  /** As sent in `sourceUrl`. */
  sourceUrl?: string | undefined;
  /** The request's Origin header. */
  origin?: string | undefined;
}

/** The host that the domain rule judges: `domain`, else `sourceUrl`, else `Origin`. */
export function claimedHost(from: EventOrigin): string | undefined {
  if (from.domain !== undefined) return from.domain;
  if (from.sourceUrl !== undefined) return hostOfUrl(from.sourceUrl);
  return from.origin === undefined ? undefined : hostOfUrl(from.origin);
}

/** The event's hosts that another brand's domain may be nearer to: those below a domain of the brand. */
export function hostsBelow(from: EventOrigin, brand: { profile: Pick<BrandProfile, 'domains'> } | undefined) {
  const domains = brand?.profile.domains ?? [];
  const origin = from.origin === undefined ? undefined : hostOfUrl(from.origin);
  const hosts = [claimedHost(from), origin].filter((host) => host !== undefined);
  return hosts.filter((host) => !domains.includes(host) && domains.some((domain) => isWithin(host, domain)));
}

interface DomainVerdict {
  authorized: boolean;
  /** The offending or accepted host; undefined when the event names none. */
  host: string | undefined;
}

/**
 * The domain rule. When a browser sends an Origin, that origin must be the brand's or one of
 * `ownHosts`, whatever `domain` says: any caller can write the field, only the browser writes the header.
 */
export function judgeDomain(
  from: EventOrigin,
  brand: Pick<BrandProfile, 'domains' | 'platforms' | 'domainless'>,
  context: {
    ownHosts: readonly string[];
    /** Below it, a platform's events may come from `<platform>.<own domain>`. */
    ownDomain?: string | undefined;
    metadata?: Record<string, unknown> | undefined;
    /** Domains of other brands: a host counts for the brand of the nearest domain only. */
    otherDomains?: readonly string[];
  },
): DomainVerdict {
  const ofBrand = (host: string) => {
    const own = nearestLength(host, brand.domains);
    return own > 0 && own >= nearestLength(host, context.otherDomains ?? []);
  };
  if (from.origin !== undefined) {
    const originHost = hostOfUrl(from.origin);
    const own = originHost !== undefined && context.ownHosts.some((host) => isWithin(originHost, host));
    if (!originHost || !(own || ofBrand(originHost)))
      return { authorized: false, host: originHost ?? sanitiseText(from.origin).slice(0, DOMAIN_MAX) };
  }
  const host = claimedHost(from);
  if (isPlatformEvent(host, brand.platforms, context)) return { authorized: true, host };
  return { authorized: host === undefined ? brand.domainless === 'allow' : ofBrand(host), host };
}

/**
 * The host for which the domain rule refuses what a caller reports; null where it may be reported. The brand's own servers
 * may send from anywhere, but name a domain where the brand wants one from everybody (`domainless: refuse`).
 */
export function refuseHost(
  from: EventOrigin & { withBrandKey: boolean },
  brand: Pick<BrandProfile, 'domains' | 'platforms' | 'domainless'>,
  context: Parameters<typeof judgeDomain>[2],
): { host: string | undefined } | null {
  const { authorized, host } = judgeDomain(from, brand, context);
  if (authorized) return null;
  if (from.withBrandKey && (host !== undefined || brand.domainless !== 'refuse')) return null;
  return { host };
}

/** Metadata fields in which chat platforms name the account that an event came through. */
const PLATFORM_IDENTITY: Record<string, string[]> = {
  telegram: ['bot_username'],
  twitter: ['twitterHandle'],
  discord: ['server_id', 'guild_id', 'discordHandle'],
};

function isPlatformEvent(
  host: string | undefined,
  platforms: Record<string, string>,
  {
    metadata = {},
    ownDomain,
  }: { metadata?: Record<string, unknown> | undefined; ownDomain?: string | undefined },
): boolean {
  const bare = (name: string) => name.trim().replace(/^@/, '').toLowerCase();
  const below = ownDomain === undefined ? undefined : `.${ownDomain}`;
  const claimed = below !== undefined && host?.endsWith(below) ? host.slice(0, -below.length) : host;
  return Object.entries(platforms).some(([platform, identity]) => {
    const name = platformName(platform);
    if (claimed !== undefined && platformName(claimed) !== name) return false;
    const fields = PLATFORM_IDENTITY[name] ?? [`${name}Handle`];
    return fields.some((field) => {
      const named = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
      return typeof named === 'string' && bare(named) === bare(identity);
    });
  });
}

/** Whether a page's origin is one of these domains or below one. */
export function isPageOf(origin: string, domains: readonly string[]): boolean {
  const host = hostOfUrl(origin);
  return host !== undefined && domains.some((domain) => isWithin(host, domain));
}

// The TXT record by which a domain says that it belongs to a brand (contract: POST verify-dns).

/** The DNS name whose TXT records are read: `_<service>.<domain>`. */
export const verificationName = (serviceName: string, domain: string) => `_${serviceName}.${domain}`;

/** What the record says; the token opens nothing but the link between this domain and the brand. */
export const verificationRecord = (claim: { brandId: BrandId; token: string }) =>
  `brand_id=${claim.brandId};api_key=${claim.token}`;

/** Undefined when the record is something else. */
export function parseVerificationRecord(record: string): { brandId: BrandId; token: string } | undefined {
  const fields = new Map(
    record.split(';').map((field) => {
      const at = field.indexOf('=');
      return [field.slice(0, at).trim().toLowerCase(), field.slice(at + 1).trim()] as const;
    }),
  );
  const brandId = addressKey(fields.get('brand_id') ?? '');
  const token = fields.get('api_key');
  return brandId && token ? { brandId, token } : undefined;
}
