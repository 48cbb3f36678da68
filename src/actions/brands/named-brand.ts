/** Finds a brand by its name, and holds what all changes of brands share. */
import { brandsOfDomains, findConfiguredBrand } from '../../ledger/brands/brand-configuration.ts';
import { domainsInTheWay } from '../../ledger/brands/brand-domains.ts';
import { listBrands, type StoredBrand } from '../../ledger/brands/brands.ts';
import { type Database, isUniqueViolation, type Queries } from '../../ledger/database/database.ts';
import { lockAvailableFunds } from '../../ledger/rewards/funds.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { configuredHost, isLoopback, isWithin } from '../../rules/brands/domain.ts';
import type { DefaultsFor, SettingProblem } from '../../rules/brands/settings.ts';
import { addressKey } from '../../rules/user-key.ts';

export interface ManageBrandsDeps {
  database: Database;
  clock: Clock;
  random: Random;
  serviceName: string;
  /** Stands in new keys, so that people tell them apart: `dev` or `live`. */
  keyEnvironment: string;
  /** Which defaults a new brand gets. */
  defaultsFor: DefaultsFor;
  /** Whether a brand may have a name of this machine, such as localhost: every machine could send its events. */
  loopbackDomains: boolean;
}

export type BrandRefusal =
  | { code: 'brand_not_found'; name: string }
  | { code: 'rule_not_found'; eventType: string; brandId: BrandId }
  | { code: 'brand_exists'; brandId: BrandId }
  | { code: 'invalid_settings'; problems: SettingProblem[] };

export type Outcome<T> = T | { refusal: BrandRefusal };

/** Runs the work again when a concurrent write came first, so that the refusal can name the other brand. */
export async function lookingAgain<T>(
  { database }: Pick<ManageBrandsDeps, 'database'>,
  work: (tx: Queries) => Promise<T>,
): Promise<T> {
  try {
    return await database.atomically(work);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return database.atomically(work);
  }
}

export const notFound = (name: string): { refusal: BrandRefusal } => ({
  refusal: { code: 'brand_not_found', name },
});

export const invalid = (problems: SettingProblem[]): { refusal: BrandRefusal } => ({
  refusal: { code: 'invalid_settings', problems },
});

/** Finds the brand and locks it, so that changes of one brand run one after the other. */
export async function withBrand<T>(
  tx: Queries,
  name: string,
  work: (brand: StoredBrand) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const named = await findNamed(tx, name);
  if (!named) return notFound(name);
  await lockAvailableFunds(tx, [named.brandId]);
  const brand = await findConfiguredBrand(tx, named.brandId);
  return brand ? work(brand) : notFound(name);
}

export async function findNamed(db: Queries, name: string): Promise<StoredBrand | undefined> {
  const host = configuredHost(name);
  const brandId = addressKey(name) ?? (host ? (await brandsOfDomains(db, [host]))[0]?.[1] : undefined);
  return brandId && findConfiguredBrand(db, brandId);
}

/** The id of the only brand; undefined where there are several, or none. */
export async function onlyBrand(db: Queries): Promise<BrandId | undefined> {
  const [first, second] = await listBrands(db);
  return second ? undefined : first?.brandId;
}

/** Domains that another brand has, above or below its own too: an event from there would belong to both. */
async function takenDomains(
  tx: Queries,
  { brandId, profile }: Pick<StoredBrand, 'brandId' | 'profile'>,
): Promise<SettingProblem[]> {
  const taken = await domainsInTheWay(tx, { brandId, domains: profile.domains });
  return taken.map(({ domain, other, owner }) => {
    const place = isWithin(domain, other) ? 'below' : 'above';
    const near = domain === other ? '' : `is ${place} ${other}, which `;
    return { setting: 'domains', message: `${domain} ${near}belongs to brand ${owner}` };
  });
}

/** What is wrong with the brand's domains here, however they are written. */
export async function domainProblems(
  { loopbackDomains }: Pick<ManageBrandsDeps, 'loopbackDomains'>,
  tx: Queries,
  brand: Pick<StoredBrand, 'brandId' | 'profile'>,
): Promise<SettingProblem[]> {
  const loopback = loopbackDomains ? [] : brand.profile.domains.filter(isLoopback);
  return [
    ...loopback.map((domain) => ({
      setting: 'domains',
      message: `${domain} is a name of every machine; only a brand of an emulator can have it`,
    })),
    ...(await takenDomains(tx, brand)),
  ];
}
