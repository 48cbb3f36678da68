/** Brands and their event rules. Money decisions read them here, inside their own commit, never from a cache. */
import { and, asc, eq } from 'drizzle-orm';
import type { Brand, BrandId, EventRule } from '../../rules/brands/brand.ts';
import { spendLimits } from '../../rules/events/spend-limit.ts';
import { atMs, type Queries, type SqlTime } from '../database/database.ts';
import { atTime, isOneOf, type Of, preparedQuery } from '../database/prepared-query.ts';
import { openFunds } from '../rewards/funds.ts';
import { forgetSpending } from '../rewards/spending.ts';
import { brandDomains, brands, eventRules } from '../schema/brands.ts';
import { replaceConfiguredDomains } from './brand-domains.ts';

/** Brands with all their domains: the configured ones first, then those proven by DNS. */
const readBrands = async (db: Queries, brandIds: BrandId[]): Promise<Map<BrandId, StoredBrand>> =>
  (await readBrandsAndTime(db, { brandIds, now: atMs(0) })).brands;

/** The same, with what `now` said when they were read; undefined when there is no brand among them. */
export async function readBrandsAndTime(
  db: Queries,
  { brandIds, now }: { brandIds: BrandId[]; now: SqlTime },
): Promise<{ brands: Map<BrandId, StoredBrand>; nowMs: number | undefined }> {
  const rows = await brandsOf(now)(db, { brandIds });
  const found = new Map<BrandId, StoredBrand>();
  for (const { nowMs: _, provenDomain, ...row } of rows) {
    const brand = found.get(row.brandId) ?? row;
    if (provenDomain !== null) brand.profile.domains.push(provenDomain);
    found.set(brand.brandId, brand);
  }
  return { brands: found, nowMs: rows[0]?.nowMs };
}

const { brandId, name, automation, profile, verificationSecret, createdAt, aliases } = brands;
const brandColumns = { brandId, name, automation, profile, verificationSecret, createdAt, aliases };

/** A row for each domain that DNS proves, and one for a brand without any. */
const brandsOf = atTime((now) =>
  preparedQuery((db, of: Of<{ brandIds: BrandId[] }>) =>
    db
      .select({ ...brandColumns, nowMs: now, provenDomain: brandDomains.domain })
      .from(brands)
      .leftJoin(brandDomains, and(eq(brandDomains.brandId, brands.brandId), eq(brandDomains.source, 'dns')))
      .where(isOneOf(brands.brandId, of.brandIds)),
  ),
);

export type StoredBrand = Brand & {
  verificationSecret: string;
  createdAt: number;
  /** How often its users' aliases were changed; as read, never written with the brand. */
  aliases?: number;
};

export async function findBrand(db: Queries, brandId: BrandId): Promise<StoredBrand | undefined> {
  return (await readBrands(db, [brandId])).get(brandId);
}

/** Every brand as it was configured, oldest first. */
export const listBrands = (db: Queries): Promise<StoredBrand[]> =>
  db.select().from(brands).orderBy(asc(brands.createdAt), asc(brands.brandId));

/** Whether there is a brand at all. */
export const isAnyBrand = async (db: Queries): Promise<boolean> =>
  (await db.select({ brandId: brands.brandId }).from(brands).limit(1)).length > 0;

/** The rules of these events, under `<brandId> <eventType>`. */
export async function readEventRules(
  db: Queries,
  wanted: { brandIds: BrandId[]; eventTypes: string[] },
): Promise<Map<string, EventRule>> {
  const rows = await rulesOf(db, wanted);
  return new Map(rows.map((row) => [ruleKey(row), row]));
}

const rulesOf = preparedQuery((db, of: Of<{ brandIds: BrandId[]; eventTypes: string[] }>) =>
  db
    .select()
    .from(eventRules)
    .where(and(isOneOf(eventRules.brandId, of.brandIds), isOneOf(eventRules.eventType, of.eventTypes))),
);

export const ruleKey = (of: { brandId: string; eventType: string }) => `${of.brandId} ${of.eventType}`;

/** The active events of a brand, in the order in which it lists them. */
export const listEventRules = (db: Queries, brandId: BrandId): Promise<EventRule[]> =>
  db
    .select()
    .from(eventRules)
    .where(and(eq(eventRules.brandId, brandId), eq(eventRules.active, true)))
    .orderBy(asc(eventRules.position));

/** Writes a new brand. A unique violation means that the brand exists by now, or that another brand has one of its domains. */
export async function addBrand(db: Queries, brand: StoredBrand): Promise<void> {
  const { brandId, profile } = brand;
  await db.insert(brands).values({ ...brand, aliases: 0 });
  await replaceConfiguredDomains(db, { brandId, domains: profile.domains });
  await openFunds(db, brandId);
}

/** Overwrites a brand's settings; its rewards, claims and deposits stay. */
export async function saveBrand(db: Queries, brand: StoredBrand): Promise<void> {
  const { createdAt: _, brandId, verificationSecret: __, aliases: ___, ...changed } = brand;
  await db
    .insert(brands)
    .values({ ...brand, aliases: 0 })
    .onConflictDoUpdate({ target: brands.brandId, set: changed });
  await replaceConfiguredDomains(db, { brandId, domains: brand.profile.domains });
  await openFunds(db, brandId);
  await forgetSpending(db, { brandId, limits: spendLimits(brand.profile) });
}

/** Writes an event's rule as given. */
export async function saveEventRule(db: Queries, rule: EventRule & { position: number }): Promise<void> {
  const { brandId: _, eventType: __, ...changed } = rule;
  await db
    .insert(eventRules)
    .values(rule)
    .onConflictDoUpdate({ target: [eventRules.brandId, eventRules.eventType], set: changed });
}
