/** Who may write what is shown to others: activity, ranks, progress. Nothing that pays rests on such a write. */

import { domainsAbove } from '../../ledger/brands/brand-domains.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import { type EventOrigin, hostsBelow, isPageOf, refuseHost } from '../../rules/brands/domain.ts';

/** What is known of the caller of a write. */
export interface Writer {
  /** The brand whose key came with the request. */
  keyOf: BrandId | undefined;
  /** The page that sent it, where a browser says so. */
  origin: string | undefined;
}

export type WriteRefusal =
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'brand_key_required'; brandId: string }
  | { code: 'origin_not_allowed'; brandId: string; origin: string };

/** The brand, or why it does not take this write (brand setting `engagementWrites`). `ownHosts`: the service's own. */
export async function admitWrite(
  db: Queries,
  { brandId, writer, ownHosts }: { brandId: BrandId; writer: Writer; ownHosts: readonly string[] },
): Promise<{ brand: Brand; withBrandKey: boolean } | { refusal: WriteRefusal }> {
  const brand = await findBrand(db, brandId);
  if (!brand) return { refusal: { code: 'brand_not_found', brandId } };
  if (writer.keyOf === brandId) return { brand, withBrandKey: true };
  if (brand.profile.engagementWrites === 'credential')
    return { refusal: { code: 'brand_key_required', brandId } };
  const { origin } = writer;
  if (origin !== undefined && !isPageOf(origin, [...brand.profile.domains, ...ownHosts]))
    return { refusal: { code: 'origin_not_allowed', brandId, origin } };
  return { brand, withBrandKey: false };
}

// Who may report a user's activity: one that pays is admitted as an event would be, since it pays like one.

interface ActivityReport {
  brand: Brand;
  writer: Writer;
  /** Set when the user is named by an address of their own: it is paid directly. */
  userAddress: `0x${string}` | undefined;
  /** Where it happened, as the report says. */
  place: ActivityPlace;
  /** Whether streaks of this type pay. */
  pays: boolean;
}

/** `metadata` may name the brand's accounts on chat platforms, as an event's does. */
export type ActivityPlace = EventOrigin & { metadata: Record<string, unknown> };

export type ActivityRefusal =
  | WriteRefusal
  | { code: 'automation_disabled'; brandId: string }
  | { code: 'domain_not_authorized'; host: string | undefined; brandId: string; configured: string[] };

/** The service's own names. */
interface OwnNames {
  /** Its hosts, whose pages may report for any brand. */
  ownHosts: readonly string[];
  /** The domain below which chat platforms have names. */
  ownDomain?: string | undefined;
}

/**
 * Why the brand does not take this report, if so: what pays obeys `clientEvents`, `directAddresses` and the domain rule
 * (`domainless`) as events do, what only counts obeys `engagementWrites`.
 */
export async function refuseActivity(
  tx: Queries,
  report: ActivityReport,
  own: OwnNames,
): Promise<ActivityRefusal | undefined> {
  const { brand, writer, userAddress, pays } = report;
  const { brandId, profile, automation } = brand;
  if (!automation) return { code: 'automation_disabled', brandId };
  const withBrandKey = writer.keyOf === brandId;
  const { clientEvents, directAddresses, engagementWrites } = profile;
  const needsKey = pays
    ? clientEvents === 'credential' || (userAddress !== undefined && directAddresses === 'credential')
    : engagementWrites === 'credential';
  if (needsKey && !withBrandKey) return { code: 'brand_key_required', brandId };
  const { origin } = writer;
  if (!withBrandKey && origin !== undefined && !isPageOf(origin, [...profile.domains, ...own.ownHosts]))
    return { code: 'origin_not_allowed', brandId, origin };
  return pays ? refusePlace(tx, { ...report, withBrandKey }, own) : undefined;
}

/** The domain rule of events. */
async function refusePlace(
  tx: Queries,
  { brand, place, withBrandKey }: ActivityReport & { withBrandKey: boolean },
  { ownHosts, ownDomain }: OwnNames,
): Promise<ActivityRefusal | undefined> {
  const { brandId, profile } = brand;
  const above = await domainsAbove(tx, hostsBelow(place, brand));
  const otherDomains = above.flatMap((one) => (one.brandId === brandId ? [] : one.domain));
  const { metadata } = place;
  const from = { ...place, withBrandKey };
  const refused = refuseHost(from, profile, { ownHosts, ownDomain, otherDomains, metadata });
  const configured = profile.domains;
  return refused ? { code: 'domain_not_authorized', host: refused.host, brandId, configured } : undefined;
}
