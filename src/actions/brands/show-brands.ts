/** Tells what brands are like: settings, domains, funds, rules and keys. */
import { listAllEventRules, listBrandKeys, readFunds } from '../../ledger/brands/brand-configuration.ts';
import { provenDomains } from '../../ledger/brands/brand-domains.ts';
import { listBrands, type StoredBrand } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { findGasWallet } from '../../ledger/relay/gas-wallets.ts';
import { readSpending } from '../../ledger/rewards/spending.ts';
import type { BrandId, BrandProfile, EventRule } from '../../rules/brands/brand.ts';
import type { SpendWindow } from '../../rules/events/spend-limit.ts';
import { limitsOf } from '../rewards/record-grants.ts';
import { findNamed, type ManageBrandsDeps, notFound, type Outcome } from './named-brand.ts';

/** Amounts in RWT, times in milliseconds since 1970. */
export interface BrandOverview {
  brandId: BrandId;
  name: string;
  automation: boolean;
  profile: BrandProfile;
  provenDomains: string[];
  createdAtMs: number;
  deposited: number;
  promised: number;
}

export interface BrandDetail extends BrandOverview {
  rules: EventRule[];
  keys: { keyId: string; createdAtMs: number; expiresAtMs: number | null }[];
  /** The account that pays its users' gas, once it has one; `ready` when it can. */
  gasWallet: { address: `0x${string}`; ready: boolean } | null;
  /** How far its spend limits are used up. */
  spending: SpendWindow[];
}

export async function overviewBrands({
  database,
}: Pick<ManageBrandsDeps, 'database'>): Promise<BrandOverview[]> {
  return overview(database.db, await listBrands(database.db));
}

/** `name` is a brand's id or one of its domains. */
export async function showBrand(
  { database, clock }: Pick<ManageBrandsDeps, 'database' | 'clock'>,
  name: string,
): Promise<Outcome<BrandDetail>> {
  const brand = await findNamed(database.db, name);
  return brand ? detail(database.db, brand, clock.now()) : notFound(name);
}

export async function detail(db: Queries, brand: StoredBrand, nowMs: number): Promise<BrandDetail> {
  const [shown] = await overview(db, [brand]);
  if (!shown) throw new Error('a brand has no overview');
  const keys = await listBrandKeys(db, brand.brandId);
  const gasWallet = await findGasWallet(db, brand.brandId);
  const spending = await readSpending(db, { brands: limitsOf([{ brand }]), nowMs });
  return {
    ...shown,
    rules: await listAllEventRules(db, brand.brandId),
    keys: keys.map(({ keyId, createdAt, expiresAt }) => ({
      keyId,
      createdAtMs: createdAt,
      expiresAtMs: expiresAt,
    })),
    gasWallet: gasWallet ? { address: gasWallet.address, ready: gasWallet.ready } : null,
    spending: spending.get(brand.brandId) ?? [],
  };
}

async function overview(db: Queries, brands: StoredBrand[]): Promise<BrandOverview[]> {
  const brandIds = brands.map(({ brandId }) => brandId);
  if (brandIds.length === 0) return [];
  const funds = await readFunds(db, brandIds);
  const proven = await provenDomains(db, brandIds);
  return brands.map(({ brandId, name, automation, profile, createdAt }) => ({
    brandId,
    name,
    automation,
    profile,
    provenDomains: (proven.get(brandId) ?? []).filter((domain) => !profile.domains.includes(domain)),
    createdAtMs: createdAt,
    deposited: funds.get(brandId)?.deposited ?? 0,
    promised: funds.get(brandId)?.promised ?? 0,
  }));
}
