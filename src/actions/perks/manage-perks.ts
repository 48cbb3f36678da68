/** Manages a brand's perks: what they are, what they cost, and how many are offered. */
import { listBrands } from '../../ledger/brands/brands.ts';
import type { Queries } from '../../ledger/database/database.ts';
import { queueTerms, readLastTerms } from '../../ledger/perks/perk-terms.ts';
import {
  findNamedPerk,
  highestToken,
  listPerks,
  perksInTheWay,
  type StoredPerk,
  savePerk,
  addPerk as storePerk,
} from '../../ledger/perks/perks.ts';
import { type Reach, refuseUrl } from '../../outgoing/target.ts';
import { isUnlimited } from '../../rules/brands/brand.ts';
import { changedTerms } from '../../rules/perks/perk.ts';
import { type BrandRefusal, findNamed, type ManageBrandsDeps, withBrand } from '../brands/named-brand.ts';

export interface ManagePerksDeps extends Pick<ManageBrandsDeps, 'database' | 'clock' | 'random'> {
  /** The contract has something to be told; where another process tells it, that finds it by itself. */
  nudge?: (() => void) | undefined;
  /** Where the service may ask brands' servers: a URL that leads elsewhere is refused at once. */
  reach: Reach;
}

type PerkRefusal = BrandRefusal | { code: 'perk_not_found'; name: string };
type PerkOutcome<T> = T | { refusal: PerkRefusal };

/** A perk, and how far the contract has been told of it. */
export interface ManagedPerk extends StoredPerk {
  /** `on_chain`: a block has all of it · `waiting`: not yet · `failed`: the contract refused the last change. */
  terms: 'on_chain' | 'waiting' | 'failed';
  /** What the contract said. */
  failure: string | null;
}

export type PerkWish = Omit<StoredPerk, 'id' | 'tokenId' | 'brandId' | 'createdAt' | 'image'> & {
  id?: string | undefined;
  tokenId?: number | undefined;
  image?: string | null | undefined;
};
export type PerkChange = {
  [Setting in keyof Omit<StoredPerk, 'id' | 'tokenId' | 'brandId' | 'createdAt'>]?:
    | StoredPerk[Setting]
    | undefined;
} & {
  /** How many more are offered than before. */
  restock?: number | undefined;
};

/** The catalogue is one answer, and each limited stock in it a question to the chain. */
const PERKS_MAX = 200;

const invalid = (setting: string, message: string): { refusal: PerkRefusal } => ({
  refusal: { code: 'invalid_settings', problems: [{ setting, message }] },
});

/** The perks of one brand, or of all, in the order of their tokens. */
export async function showPerks(
  { database: { db } }: Pick<ManagePerksDeps, 'database'>,
  brandName?: string,
): Promise<PerkOutcome<{ perks: ManagedPerk[] }>> {
  if (brandName !== undefined) {
    const brand = await findNamed(db, brandName);
    if (!brand) return { refusal: { code: 'brand_not_found', name: brandName } };
    return { perks: await managed(db, await listPerks(db, brand.brandId)) };
  }
  const all: StoredPerk[] = [];
  for (const { brandId } of await listBrands(db)) all.push(...(await listPerks(db, brandId)));
  return { perks: await managed(db, all) };
}

/** Adds a perk; without a token of its own it gets the next that is free in the ledger. */
export async function addPerk(
  deps: ManagePerksDeps,
  brandName: string,
  wish: PerkWish,
): Promise<PerkOutcome<ManagedPerk>> {
  const unreachable = unreachableIn(deps.reach, wish.constraints);
  if (unreachable) return unreachable;
  const nowMs = deps.clock.now();
  const added = await deps.database.atomically((tx) =>
    withBrand<StoredPerk | { refusal: PerkRefusal }>(tx, brandName, async ({ brandId }) => {
      const present = await listPerks(tx, brandId);
      if (present.length >= PERKS_MAX)
        return invalid('brand', `has ${present.length} perks; it may have ${PERKS_MAX}`);
      const { id = deps.random.uuid(), tokenId = (await highestToken(tx)) + 1, image = null } = wish;
      const perk: StoredPerk = { ...wish, id, tokenId, image, brandId, createdAt: nowMs };
      if (!(await storePerk(tx, perk))) return await takenBy(tx, perk);
      await queueTerms(tx, { perk, terms: changedTerms(undefined, perk), nowMs });
      return perk;
    }),
  );
  if ('refusal' in added) return added;
  return told(deps, added);
}

/** Changes a perk that is named by its id or token. */
export async function changePerk(
  deps: ManagePerksDeps,
  name: string,
  change: PerkChange,
): Promise<PerkOutcome<ManagedPerk>> {
  const { restock, ...given } = change;
  const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const unreachable = unreachableIn(deps.reach, change.constraints);
  if (unreachable) return unreachable;
  const nowMs = deps.clock.now();
  const changed = await deps.database.atomically(async (tx) => {
    const found = await findNamedPerk(tx, name);
    if (!found) return { refusal: { code: 'perk_not_found' as const, name } };
    return withBrand<StoredPerk | { refusal: PerkRefusal }>(tx, found.brandId, async () => {
      // Read again behind the brand's lock, so that two who restock at once both count.
      const before = (await findNamedPerk(tx, name)) ?? found;
      if (restock !== undefined && settings.stock !== undefined)
        return invalid('restock', 'adds to the stock, which is given too; leave one of them out');
      if (restock !== undefined && isUnlimited(before.stock))
        return invalid('restock', 'adds to a stock, and this one is unlimited');
      const more = restock === undefined ? {} : { stock: before.stock + restock };
      const perk: StoredPerk = { ...before, ...settings, ...more };
      await savePerk(tx, perk);
      await queueTerms(tx, { perk, terms: changedTerms(before, perk), nowMs });
      return perk;
    });
  });
  if ('refusal' in changed) return changed;
  return told(deps, changed);
}

/** Every constraint is asked through the same guard later; here its refusal reaches the person who can mend it. */
function unreachableIn(reach: Reach, constraints: StoredPerk['constraints'] = []) {
  for (const [place, one] of constraints.entries()) {
    const why = one.type === 'external_api' ? refuseUrl(reach, one.url) : undefined;
    if (why) return invalid(`constraints.${place}.url`, `${why}: the service would never ask it`);
  }
  return undefined;
}

async function told(deps: ManagePerksDeps, perk: StoredPerk): Promise<ManagedPerk> {
  deps.nudge?.();
  const [one] = await managed(deps.database.db, [perk]);
  return one ?? { ...perk, terms: 'waiting', failure: null };
}

async function managed(db: Queries, perks: readonly StoredPerk[]): Promise<ManagedPerk[]> {
  const last = await readLastTerms(
    db,
    perks.map(({ tokenId }) => tokenId),
  );
  return perks.map((perk) => {
    const { failure = null, status } = last.get(perk.tokenId) ?? { status: 'final' };
    const isIn = status === 'included' || status === 'final';
    return { ...perk, failure, terms: failure !== null ? 'failed' : isIn ? 'on_chain' : 'waiting' };
  });
}

async function takenBy(tx: Queries, perk: StoredPerk): Promise<{ refusal: PerkRefusal }> {
  const [other] = await perksInTheWay(tx, [perk]);
  const setting = other?.id === perk.id ? 'id' : 'tokenId';
  return invalid(setting, `is that of perk ${other?.id ?? 'that was added just now'}; give another one`);
}
