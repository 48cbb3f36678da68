/** Which brands a host belongs to. */
import { and, eq, inArray } from 'drizzle-orm';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { brandDomains } from '../schema/brands.ts';

/** `shop.demo.example` → itself, `demo.example`, `example`. */
const suffixes = (host: string) => {
  const labels = host.split('.');
  return labels.map((_, place) => labels.slice(place).join('.'));
};

/** The brands that have this canonical host, or a domain above it. */
export async function brandsOfHost(db: Queries, host: string): Promise<BrandId[]> {
  const rows = await db
    .select({ brandId: brandDomains.brandId })
    .from(brandDomains)
    .where(inArray(brandDomains.domain, suffixes(host)));
  return [...new Set(rows.map(({ brandId }) => brandId))];
}

/** Domains that were proven by DNS, by brand: they count beside the configured ones. */
export async function provenDomains(db: Queries, brandIds: BrandId[]): Promise<Map<BrandId, string[]>> {
  const rows = await db
    .select()
    .from(brandDomains)
    .where(and(inArray(brandDomains.brandId, brandIds), eq(brandDomains.source, 'dns')));
  const byBrand = new Map<BrandId, string[]>();
  for (const { brandId, domain } of rows) byBrand.set(brandId, [...(byBrand.get(brandId) ?? []), domain]);
  return byBrand;
}

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

/** Links a domain that proved itself, or unlinks one that no longer does. */
export async function setProvenDomain(
  db: Queries,
  link: { brandId: BrandId; domain: string; proven: boolean },
): Promise<void> {
  const { brandId, domain, proven } = link;
  if (proven) {
    await db.insert(brandDomains).values({ brandId, domain, source: 'dns' }).onConflictDoNothing();
    return;
  }
  await db
    .delete(brandDomains)
    .where(
      and(eq(brandDomains.domain, domain), eq(brandDomains.brandId, brandId), eq(brandDomains.source, 'dns')),
    );
}

/** Brands to which this very domain is linked by DNS. */
export async function brandsProvenFor(db: Queries, domain: string): Promise<BrandId[]> {
  const rows = await db
    .select({ brandId: brandDomains.brandId })
    .from(brandDomains)
    .where(and(eq(brandDomains.domain, domain), eq(brandDomains.source, 'dns')));
  return rows.map(({ brandId }) => brandId);
}
