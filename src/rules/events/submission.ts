/** A customer event after its fields were checked, and the checks that need only the brand's configuration. */
import type { Brand, BrandId, BrandProfile, EventRule } from '../brands/brand.ts';
import { type EventOrigin, refuseHost } from '../brands/domain.ts';
import { platformUserKey } from '../platforms.ts';
import type { Bypass } from './claim-policy.ts';

export interface EventSubmission extends EventOrigin {
  brandId: BrandId;
  eventType: string;
  /** The form under which the user is counted. */
  userKey: string;
  userEmail: string | undefined;
  /** Set when the user is named by an address of their own: it is paid directly. */
  userAddress: `0x${string}` | undefined;
  /** `metadata.channel_id`, or the same at the top level. */
  channel: string | undefined;
  /** `metadata.skip_cooldown` was literally true. */
  skipCooldown: boolean;
  metadata: Record<string, unknown>;
  /** Where the user was, by its one name: the platform whose id names them, or `metadata.platform`. */
  platform?: string | undefined;
  /** The request carried a valid key of this brand. */
  withBrandKey: boolean;
}

export type ScreeningRefusal =
  | { code: 'invalid_event_data'; errors: string[] }
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'automation_disabled'; brandId: string }
  /** `what` only the brand's own servers may do. */
  | { code: 'brand_key_required'; what: 'events' | 'direct_addresses'; brandId: string }
  | {
      code: 'domain_not_authorized';
      host: string | undefined;
      brandId: string;
      brandName: string;
      configured: string[];
    }
  | { code: 'event_not_found'; eventType: string; brandId: string }
  | { code: 'channel_not_allowed'; channel: string; allowed: string[] };

/** What a submission is screened against. */
interface Screening {
  brand: Brand | undefined;
  rule: EventRule | undefined;
  /** The service's own hosts, whose pages may send events of any brand. */
  ownHosts: readonly string[];
  /** The domain below which chat platforms have names: `discord.<own domain>`. */
  ownDomain?: string | undefined;
  /** Domains of other brands, at least those at or above the event's hosts. */
  otherDomains?: readonly string[];
}

/** The first configured reason against a submission: brand, automation, credential, domain, event, channel. */
export function refuseSubmission(
  submission: EventSubmission,
  screening: Screening,
): ScreeningRefusal | undefined {
  const { brandId, eventType, channel } = submission;
  const { brand, rule } = screening;
  if (!brand) return { code: 'brand_not_found', brandId };
  if (!brand.automation) return { code: 'automation_disabled', brandId };
  const what = needsKey(submission, brand);
  if (what) return { code: 'brand_key_required', what, brandId };
  const elsewhere = refuseDomain(submission, brand, screening);
  if (elsewhere) return elsewhere;
  if (!rule?.active) return { code: 'event_not_found', eventType, brandId };
  const allowed = rule.detail.detectionConfig.channels;
  if (channel !== undefined && !channelAllowed(channel, allowed)) {
    return { code: 'channel_not_allowed', channel, allowed: allowed ?? [] };
  }
  return undefined;
}

/** The submission under the type of its event: a brand may know events by names of its own, and the type comes first. */
export function underOwnType(
  submission: EventSubmission,
  { brand, isType }: { brand: Brand | undefined; isType: (eventType: string) => boolean },
): EventSubmission {
  const { eventType } = submission;
  const meant = namedType(brand, eventType);
  return meant === undefined || isType(eventType) ? submission : { ...submission, eventType: meant };
}

/** The event type for which a name of the brand stands. */
export function namedType(brand: Brand | undefined, name: string): string | undefined {
  const { eventNameMapping = {} } = brand?.profile ?? {};
  return Object.hasOwn(eventNameMapping, name) ? eventNameMapping[name] : undefined;
}

/** What about this submission the brand takes with its key only, when it came without. */
function needsKey({ withBrandKey, userAddress }: EventSubmission, { profile }: Brand) {
  if (withBrandKey) return undefined;
  if (profile.clientEvents === 'credential') return 'events';
  return userAddress && profile.directAddresses === 'credential' ? 'direct_addresses' : undefined;
}

function refuseDomain(
  submission: EventSubmission,
  { brandId, name, profile }: Brand,
  { ownHosts, ownDomain, otherDomains }: Screening,
): ScreeningRefusal | undefined {
  const { metadata } = submission;
  const refused = refuseHost(submission, profile, { ownHosts, ownDomain, otherDomains, metadata });
  const configured = profile.domains;
  return refused
    ? { code: 'domain_not_authorized', host: refused.host, brandId, brandName: name, configured }
    : undefined;
}

/** Sources whose events pass over cooldown and maximum (contract: Cooldown bypass). */
const BYPASS_SOURCES: ReadonlySet<unknown> = new Set(['chat_manual_reward', 'voice_claim', 'gateway_event']);

/** What this submission may pass over. A source is believed only together with the brand's key. */
export function bypassOf(submission: EventSubmission, brand: Brand): Bypass {
  const { metadata, withBrandKey, skipCooldown } = submission;
  const source = Object.hasOwn(metadata, 'source') ? metadata.source : undefined;
  const trusted = withBrandKey && BYPASS_SOURCES.has(source);
  const skips = skipCooldown && (withBrandKey || brand.profile.clientBypass === 'allow');
  return { cooldown: trusted || skips, maxClaims: trusted };
}

// The channel rule: a chat event counts only in the channels that the brand lists (contract: Channel rule).

const bare = (channel: string) => channel.trim().replace(/^#/, '').toLowerCase();

/** Passes when the brand has no list. */
export function channelAllowed(channel: string, allowed: readonly string[] | undefined): boolean {
  if (!allowed?.length) return true;
  return allowed.some((one) => bare(one) === bare(channel));
}

// How a brand's site numbers its users, where an event says number and e-mail together.

const ID = '_{id}';
const ID_FORM = /^[\w.@+-]{1,128}$/;

/**
 * The stand-in e-mail of the number in `metadata.user_id`, by the brand's pattern (`wordpress_{id}`); undefined where the
 * event does not say both, or came without the brand's key, which alone makes the pair believed.
 */
export function numberedUser(
  { withBrandKey, userEmail, userKey, metadata }: EventSubmission,
  { domainUsers }: Pick<BrandProfile, 'domainUsers'>,
  ownDomain: string | undefined,
): string | undefined {
  if (!withBrandKey || domainUsers === undefined || ownDomain === undefined || userEmail === undefined)
    return undefined;
  const sent = Object.hasOwn(metadata, 'user_id') ? metadata.user_id : undefined;
  const id = typeof sent === 'number' || typeof sent === 'string' ? String(sent).trim() : '';
  if (!ID_FORM.test(id)) return undefined;
  const key = platformUserKey(domainUsers.slice(0, -ID.length), id, ownDomain);
  return key === userKey ? undefined : key;
}
