/** Creates and changes brands, their rules and their keys. What is written here decides the very next event. */
import { digestSecret, newKeyText } from '../../identity/brand-key.ts';
import {
  brandsOfDomains,
  deleteEventRule,
  findConfiguredBrand,
  listAllEventRules,
  listBrandKeys,
  readFunds,
} from '../../ledger/brands/brand-configuration.ts';
import { provenDomains } from '../../ledger/brands/brand-domains.ts';
import { expireBrandKeys, saveBrandKey } from '../../ledger/brands/brand-keys.ts';
import {
  addBrand,
  listBrands,
  type StoredBrand,
  saveBrand,
  saveEventRule,
} from '../../ledger/brands/brands.ts';
import { type Database, isUniqueViolation, type Queries } from '../../ledger/database/database.ts';
import { findGasWallet } from '../../ledger/relay/gas-wallets.ts';
import { lockAvailableFunds } from '../../ledger/rewards/funds.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Random } from '../../lib/ids.ts';
import type { BrandId, BrandProfile, EventRule } from '../../rules/brands/brand.ts';
import { applyBrandSettings, newBrand } from '../../rules/brands/brand-settings.ts';
import { verificationName, verificationRecord } from '../../rules/brands/dns-verification.ts';
import { configuredHost } from '../../rules/brands/domain.ts';
import { applyRuleSettings } from '../../rules/brands/rule-settings.ts';
import type { SettingProblem, Settings } from '../../rules/brands/settings.ts';
import { addressKey } from '../../rules/user-key.ts';
import { domainToken } from './verify-dns.ts';

export interface ManageBrandsDeps {
  database: Database;
  clock: Clock;
  random: Random;
  serviceName: string;
  /** Stands in new keys, so that people tell them apart: `dev` or `live`. */
  keyEnvironment: string;
}

export type BrandRefusal =
  | { code: 'brand_not_found'; name: string }
  | { code: 'rule_not_found'; eventType: string; brandId: BrandId }
  | { code: 'brand_exists'; brandId: BrandId }
  | { code: 'invalid_settings'; problems: SettingProblem[] };

type Outcome<T> = T | { refusal: BrandRefusal };

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
}

/** A key that nobody will see again; when the brand's other keys end, if it has any. */
export interface NewKey {
  keyId: string;
  apiKey: string;
  othersExpireAtMs: number | null;
}

export async function overviewBrands({
  database,
}: Pick<ManageBrandsDeps, 'database'>): Promise<BrandOverview[]> {
  return overview(database.db, await listBrands(database.db));
}

/** `name` is a brand's id or one of its domains. */
export async function showBrand(
  { database }: Pick<ManageBrandsDeps, 'database'>,
  name: string,
): Promise<Outcome<BrandDetail>> {
  const brand = await findNamed(database.db, name);
  return brand ? detail(database.db, brand) : notFound(name);
}

/** Creates a brand with its first key. Contract: Authentication (API key). */
export async function createBrand(
  deps: ManageBrandsDeps,
  settings: Settings,
): Promise<Outcome<BrandDetail & NewKey>> {
  const made = newBrand(settings);
  if ('problems' in made) return invalid(made.problems);
  const { brand } = made;
  const nowMs = deps.clock.now();
  return lookingAgain(deps, async (tx) => {
    const { brandId } = brand;
    if (await findConfiguredBrand(tx, brandId)) return { refusal: { code: 'brand_exists', brandId } };
    const problems = await takenDomains(tx, brand);
    if (problems.length > 0) return invalid(problems);
    const verificationSecret = Buffer.from(deps.random.bytes(32)).toString('base64url');
    const stored = { ...brand, verificationSecret, createdAt: nowMs };
    await addBrand(tx, stored);
    const key = await addKey(deps, tx, { brandId, nowMs });
    return { ...(await detail(tx, stored)), ...key, othersExpireAtMs: null };
  });
}

/** Applies settings; the rest of the brand stays. */
export async function changeBrand(
  deps: ManageBrandsDeps,
  name: string,
  settings: Settings,
): Promise<Outcome<BrandDetail>> {
  return lookingAgain(deps, (tx) =>
    withBrand(tx, name, async (before) => {
      const changed = applyBrandSettings(before, settings);
      if ('problems' in changed) return invalid(changed.problems);
      const brand = { ...before, ...changed.brand };
      const problems = await takenDomains(tx, brand);
      if (problems.length > 0) return invalid(problems);
      await saveBrand(tx, brand);
      return detail(tx, brand);
    }),
  );
}

/** Changes an event's rule, or adds one at the end of the brand's list. */
export async function changeRule(
  deps: ManageBrandsDeps,
  of: { name: string; eventType: string },
  settings: Settings,
): Promise<Outcome<EventRule>> {
  const { name, eventType } = of;
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId }) => {
      const rules = await listAllEventRules(tx, brandId);
      const before = rules.find((rule) => rule.eventType === eventType);
      const changed = applyRuleSettings({ brandId, eventType, before }, settings);
      if ('problems' in changed) return invalid(changed.problems);
      const position = before?.position ?? (rules.at(-1)?.position ?? -1) + 1;
      await saveEventRule(tx, { ...changed.rule, position });
      return changed.rule;
    }),
  );
}

export async function removeRule(
  deps: ManageBrandsDeps,
  of: { name: string; eventType: string },
): Promise<Outcome<{ removed: string }>> {
  const { name, eventType } = of;
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId }): Promise<Outcome<{ removed: string }>> => {
      if (await deleteEventRule(tx, { brandId, eventType })) return { removed: eventType };
      return { refusal: { code: 'rule_not_found', eventType, brandId } };
    }),
  );
}

/** Adds a key; those before it work for `overlapMs` more, so that a brand's servers can change over. */
export async function rotateKey(
  deps: ManageBrandsDeps,
  name: string,
  { overlapMs }: { overlapMs: number },
): Promise<Outcome<NewKey>> {
  const nowMs = deps.clock.now();
  return deps.database.atomically((tx) =>
    withBrand(tx, name, async ({ brandId }) => {
      const atMs = nowMs + overlapMs;
      await expireBrandKeys(tx, { brandId, atMs });
      const living = (await listBrandKeys(tx, brandId)).filter(({ expiresAt }) => (expiresAt ?? 0) > nowMs);
      const key = await addKey(deps, tx, { brandId, nowMs });
      return { ...key, othersExpireAtMs: living.length > 0 ? atMs : null };
    }),
  );
}

/** The TXT record by which a domain says that it is the brand's. Contract: POST verify-dns. */
export async function dnsRecord(
  { database, serviceName }: Pick<ManageBrandsDeps, 'database' | 'serviceName'>,
  name: string,
  domain: string,
): Promise<Outcome<{ name: string; value: string }>> {
  const host = configuredHost(domain);
  if (!host)
    return invalid([{ setting: 'domain', message: 'must be a domain of its own (no public suffix)' }]);
  const brand = await findNamed(database.db, name);
  if (!brand) return notFound(name);
  const { brandId, verificationSecret } = brand;
  return {
    name: verificationName(serviceName, host),
    value: verificationRecord({ brandId, token: domainToken(verificationSecret, host) }),
  };
}

/** Somebody who wrote at the same moment got there first: the second look finds them, and says who. */
async function lookingAgain<T>(
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

const notFound = (name: string): { refusal: BrandRefusal } => ({
  refusal: { code: 'brand_not_found', name },
});

const invalid = (problems: SettingProblem[]): { refusal: BrandRefusal } => ({
  refusal: { code: 'invalid_settings', problems },
});

/** Finds the brand and holds its turnstile, so that changes of one brand follow each other. */
async function withBrand<T>(
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

async function findNamed(db: Queries, name: string): Promise<StoredBrand | undefined> {
  const host = configuredHost(name);
  const brandId = addressKey(name) ?? (host ? (await brandsOfDomains(db, [host]))[0]?.[1] : undefined);
  return brandId && findConfiguredBrand(db, brandId);
}

/** Domains that are another brand's: an event from there would be both brands'. */
async function takenDomains(
  tx: Queries,
  { brandId, profile }: Pick<StoredBrand, 'brandId' | 'profile'>,
): Promise<SettingProblem[]> {
  const owners = await brandsOfDomains(tx, profile.domains);
  return owners
    .filter(([, owner]) => owner !== brandId)
    .map(([domain, owner]) => ({ setting: 'domains', message: `${domain} belongs to brand ${owner}` }));
}

async function addKey(
  { random, keyEnvironment }: ManageBrandsDeps,
  tx: Queries,
  { brandId, nowMs }: { brandId: BrandId; nowMs: number },
): Promise<{ keyId: string; apiKey: string }> {
  const { keyId, secret, text } = newKeyText(keyEnvironment, random.bytes);
  await saveBrandKey(tx, { keyId, brandId, digest: digestSecret(secret), createdAt: nowMs, expiresAt: null });
  return { keyId, apiKey: text };
}

async function detail(db: Queries, brand: StoredBrand): Promise<BrandDetail> {
  const [shown] = await overview(db, [brand]);
  if (!shown) throw new Error('a brand has no overview');
  const keys = await listBrandKeys(db, brand.brandId);
  const gasWallet = await findGasWallet(db, brand.brandId);
  return {
    ...shown,
    rules: await listAllEventRules(db, brand.brandId),
    keys: keys.map(({ keyId, createdAt, expiresAt }) => ({
      keyId,
      createdAtMs: createdAt,
      expiresAtMs: expiresAt,
    })),
    gasWallet: gasWallet ? { address: gasWallet.address, ready: gasWallet.ready } : null,
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
