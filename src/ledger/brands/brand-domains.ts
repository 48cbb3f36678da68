/** Which brands a host belongs to. */
import { and, eq, gte, isNull, lte, or, sql } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import { isWithin } from '../../rules/brands/domain.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brandDomains } from '../schema/brands.ts';

/** `shop.demo.example` → itself, `demo.example`, `example`. */
const suffixes = (host: string) => {
  const labels = host.split('.');
  return labels.map((_, place) => labels.slice(place).join('.'));
};

/** The domains of all brands at and above these canonical hosts. */
export async function domainsAbove(
  db: Queries,
  hosts: string[],
): Promise<{ brandId: BrandId; domain: string }[]> {
  const domains = [...new Set(hosts.flatMap(suffixes))];
  return domains.length === 0 ? [] : ownersOf(db, { domains });
}

const ownersOf = preparedQuery((db, of: Of<{ domains: string[] }>) =>
  db
    .select({ brandId: brandDomains.brandId, domain: brandDomains.domain })
    .from(brandDomains)
    .where(isOneOf(brandDomains.domain, of.domains)),
);

/** The brands that have this canonical host, or else the nearest domain above it. */
export async function brandsOfHost(db: Queries, host: string): Promise<BrandId[]> {
  const rows = await domainsAbove(db, [host]);
  const nearest = Math.max(...rows.map(({ domain }) => domain.length));
  const brands = rows.filter(({ domain }) => domain.length === nearest);
  return [...new Set(brands.map(({ brandId }) => brandId))];
}

/** A domain that a brand wants, and the domain of another brand that is the same, above it or below it. */
interface DomainInTheWay {
  domain: string;
  other: string;
  owner: BrandId;
}

/**
 * What stands against a brand's domains. What the brand has already it keeps, but for the very same domain: older
 * ledgers have domains above and below each other.
 */
export async function domainsInTheWay(
  db: Queries,
  brand: { brandId: BrandId; domains: readonly string[] },
): Promise<DomainInTheWay[]> {
  // All of them: only whoever manages brands asks, and the end of a text is not what an index finds.
  const rows = await db.select().from(brandDomains);
  const found: DomainInTheWay[] = [];
  for (const domain of brand.domains) {
    const has = rows.some((row) => row.brandId === brand.brandId && row.domain === domain);
    const others = rows.filter(({ brandId, domain: other }) => {
      const isNear = isWithin(domain, other) || isWithin(other, domain);
      return brandId !== brand.brandId && isNear && (!has || other === domain);
    });
    // The very same domain first: its owner is the one to talk to.
    const [nearest] = others.sort((a, b) => Number(b.domain === domain) - Number(a.domain === domain));
    if (nearest) found.push({ domain, other: nearest.domain, owner: nearest.brandId });
  }
  return found;
}

/** The domain of another brand above or below one that DNS would link; undefined too when the brand has it already. */
export async function nestedDomain(
  db: Queries,
  link: { brandId: BrandId; domain: string },
): Promise<string | undefined> {
  const rows = await db.select().from(brandDomains);
  if (rows.some(({ brandId, domain }) => brandId === link.brandId && domain === link.domain))
    return undefined;
  const isNested = (other: string) => isWithin(link.domain, other) || isWithin(other, link.domain);
  const others = rows.filter(({ brandId, domain }) => brandId !== link.brandId && domain !== link.domain);
  return others.find(({ domain }) => isNested(domain))?.domain;
}

/** Domains that were proven by DNS, by brand: they count beside the configured ones. */
export async function provenDomains(db: Queries, brandIds: BrandId[]): Promise<Map<BrandId, string[]>> {
  const rows = await provenOf(db, { brandIds });
  const byBrand = new Map<BrandId, string[]>();
  for (const { brandId, domain } of rows) byBrand.set(brandId, [...(byBrand.get(brandId) ?? []), domain]);
  return byBrand;
}

const provenOf = preparedQuery((db, of: Of<{ brandIds: BrandId[] }>) =>
  db
    .select()
    .from(brandDomains)
    .where(and(isOneOf(brandDomains.brandId, of.brandIds), eq(brandDomains.source, 'dns'))),
);

/** Replaces a brand's configured domains; those proven by DNS stay. A unique violation means that another brand has one of them. */
export async function replaceConfiguredDomains(
  db: Queries,
  brand: { brandId: BrandId; domains: string[] },
): Promise<void> {
  const { brandId, domains } = brand;
  await db
    .delete(brandDomains)
    .where(and(eq(brandDomains.brandId, brandId), eq(brandDomains.source, 'configured')));
  if (domains.length === 0) return;
  await db
    .insert(brandDomains)
    // Sorted, so that two brands that want the same domains cannot deadlock.
    .values([...domains].sort().map((domain) => ({ brandId, domain, source: 'configured' as const })))
    .onConflictDoNothing({ target: [brandDomains.domain, brandDomains.brandId] });
}

/** Links a domain that proved itself, and forgets its misses. */
export async function linkProvenDomain(
  db: Queries,
  link: { brandId: BrandId; domain: string },
): Promise<void> {
  await db
    .insert(brandDomains)
    .values({ ...link, source: 'dns' })
    .onConflictDoNothing();
  await db.update(brandDomains).set({ misses: 0, missedAt: null }).where(provenLink(link));
}

/**
 * Counts that the record of a linked domain is missing, and unlinks the domain with the last miss that it may have.
 * Misses within `everyMs` count once, whoever looks how often.
 */
export async function missProvenDomain(
  db: Queries,
  link: { brandId: BrandId; domain: string },
  { nowMs, everyMs, missesMax }: { nowMs: number; everyMs: number; missesMax: number },
): Promise<void> {
  const isDue = or(isNull(brandDomains.missedAt), lte(brandDomains.missedAt, nowMs - everyMs));
  await db
    .update(brandDomains)
    .set({ misses: sql`${brandDomains.misses} + 1`, missedAt: nowMs })
    .where(and(provenLink(link), isDue));
  await db.delete(brandDomains).where(and(provenLink(link), gte(brandDomains.misses, missesMax)));
}

const provenLink = ({ brandId, domain }: { brandId: BrandId; domain: string }) =>
  and(eq(brandDomains.domain, domain), eq(brandDomains.brandId, brandId), eq(brandDomains.source, 'dns'));

/** Every domain that is linked by DNS. */
export async function everyProvenDomain(db: Queries): Promise<string[]> {
  const rows = await db
    .selectDistinct({ domain: brandDomains.domain })
    .from(brandDomains)
    .where(eq(brandDomains.source, 'dns'))
    .orderBy(brandDomains.domain);
  return rows.map(({ domain }) => domain);
}

/** Brands to which this very domain is linked by DNS. */
export async function brandsProvenFor(db: Queries, domain: string): Promise<BrandId[]> {
  const rows = await db
    .select({ brandId: brandDomains.brandId })
    .from(brandDomains)
    .where(and(eq(brandDomains.domain, domain), eq(brandDomains.source, 'dns')));
  return rows.map(({ brandId }) => brandId);
}
