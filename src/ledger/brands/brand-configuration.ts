/** What managing brands reads and writes beyond what decisions about events need. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { BrandId, EventRule } from '../../rules/brands/brand.ts';
import type { Queries } from '../database/database.ts';
import { isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { brandDomains, brandKeys, brands, eventRules } from '../schema/brands.ts';
import { brandFunds } from '../schema/rewards.ts';
import type { BrandKey } from './brand-keys.ts';
import type { StoredBrand } from './brands.ts';

/** A brand as it was configured: without domains that only DNS links to it. */
export async function findConfiguredBrand(db: Queries, brandId: BrandId): Promise<StoredBrand | undefined> {
  const [brand] = await readConfiguredBrands(db, [brandId]);
  return brand;
}

/** The same for several brands, in no order. */
export const readConfiguredBrands = (db: Queries, brandIds: BrandId[]): Promise<StoredBrand[]> =>
  configuredOf(db, { brandIds });

const configuredOf = preparedQuery((db, of: Of<{ brandIds: BrandId[] }>) =>
  db.select().from(brands).where(isOneOf(brands.brandId, of.brandIds)),
);

/** The brands that have one of these very domains, by domain. */
export async function brandsOfDomains(db: Queries, domains: string[]): Promise<[domain: string, BrandId][]> {
  const rows = await db.select().from(brandDomains).where(inArray(brandDomains.domain, domains));
  return rows.map(({ domain, brandId }) => [domain, brandId]);
}

/** Every rule of a brand, the inactive ones too, in the order in which it lists them. */
export const listAllEventRules = (
  db: Queries,
  brandId: BrandId,
): Promise<(EventRule & { position: number })[]> =>
  db.select().from(eventRules).where(eq(eventRules.brandId, brandId)).orderBy(asc(eventRules.position));

/** Removes a rule; what users claimed under it stays counted. Returns whether there was one. */
export async function deleteEventRule(
  db: Queries,
  of: { brandId: BrandId; eventType: string },
): Promise<boolean> {
  const gone = await db
    .delete(eventRules)
    .where(and(eq(eventRules.brandId, of.brandId), eq(eventRules.eventType, of.eventType)))
    .returning({ eventType: eventRules.eventType });
  return gone.length > 0;
}

/** The keys of a brand, expired ones too, oldest first. */
export const listBrandKeys = (db: Queries, brandId: BrandId): Promise<BrandKey[]> =>
  db.select().from(brandKeys).where(eq(brandKeys.brandId, brandId)).orderBy(asc(brandKeys.createdAt));

/** RWT that brands have in escrow and have promised, by brand. */
export async function readFunds(
  db: Queries,
  brandIds: BrandId[],
): Promise<Map<BrandId, { deposited: number; promised: number }>> {
  const rows = await db.select().from(brandFunds).where(inArray(brandFunds.brandId, brandIds));
  return new Map(rows.map(({ brandId, deposited, promised }) => [brandId, { deposited, promised }]));
}

/** RWT of all brands together, and how many brands there are. */
export async function sumFunds(
  db: Queries,
): Promise<{ deposited: number; promised: number; brands: number }> {
  const sum = (column: typeof brandFunds.deposited) =>
    sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);
  const [row] = await db
    .select({
      deposited: sum(brandFunds.deposited),
      promised: sum(brandFunds.promised),
      brands: sql<number>`(select count(*) from ${brands})`.mapWith(Number),
    })
    .from(brandFunds);
  return row ?? { deposited: 0, promised: 0, brands: 0 };
}

/** The brands that have the least left to promise, with their funds. */
export const brandsWithLeast = (db: Queries, limit: number) => {
  const held = (column: typeof brandFunds.deposited) => sql<number>`coalesce(${column}, 0)`.mapWith(Number);
  const [deposited, promised] = [held(brandFunds.deposited), held(brandFunds.promised)];
  return db
    .select({ brandId: brands.brandId, name: brands.name, profile: brands.profile, deposited, promised })
    .from(brands)
    .leftJoin(brandFunds, eq(brandFunds.brandId, brands.brandId))
    .orderBy(sql`${deposited} - ${promised}`, asc(brands.brandId))
    .limit(limit);
};
