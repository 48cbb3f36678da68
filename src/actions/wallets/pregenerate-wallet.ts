/** Gives a person a wallet before they log in or get a reward (contract: Pregenerated wallet). */
import { findBrand } from '../../ledger/brands/brands.ts';
import type { BusinessTime, Database, Queries } from '../../ledger/database/database.ts';
import {
  type RateLimit,
  type RateWindow,
  readWindow,
  takeFromWindow,
} from '../../ledger/limits/rate-windows.ts';
import { ensureIdentity, findIdentity, type Identity } from '../../ledger/wallets/identities.ts';
import { ensureWallets, findWallets, notePregenerated } from '../../ledger/wallets/wallets.ts';
import type { Random } from '../../lib/ids.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import { isPageOf } from '../../rules/brands/domain.ts';
import type { Registration } from '../../rules/registration.ts';
import { asOneUser } from './one-user.ts';

interface PregenerateDeps {
  database: Database;
  businessTime: BusinessTime;
  random: Pick<Random, 'uuid'>;
  addressAt: (index: number) => `0x${string}`;
  /** Hosts of the service itself, whose pages may ask for any brand. */
  ownHosts: readonly string[];
  /** Counts a new wallet against an address; absent where addresses have no limit. */
  countAddress?: ((address: string) => RateWindow & { taken: boolean }) | undefined;
  /** New wallets of one brand: for callers with its key, and once more for all others together. */
  limit: Omit<RateLimit, 'scope'>;
}

export interface PregeneratedWallet {
  walletAddress: `0x${string}`;
  idpUserId: string;
  /** True for the one call that made the wallet. */
  createdNew: boolean;
  /** How far the brand's limit is used up; only with a new wallet, since others do not count. */
  window?: RateWindow;
}

export interface WantedWallet {
  registration: Registration;
  keyOf: BrandId | undefined;
  origin?: string | undefined;
  address?: string | undefined;
}

export type PregenerateRefusal =
  | { code: 'brand_not_found'; brandId: string }
  | { code: 'brand_key_required'; brandId: string }
  | { code: 'origin_not_allowed'; brandId: string; origin: string }
  | { code: 'rate_limit_exceeded'; brandId: string; window: RateWindow };

/** `keyOf` is the brand whose key came with the request, `origin` the page that sent it, `address` where it came from. */
export async function pregenerateWallet(
  deps: PregenerateDeps,
  { registration, keyOf, origin, address }: WantedWallet,
): Promise<PregeneratedWallet | { refusal: PregenerateRefusal }> {
  const { database } = deps;
  const { brandId } = registration;
  const brand = await findBrand(database.db, brandId);
  if (!brand) return { refusal: { code: 'brand_not_found', brandId } };
  if (brand.profile.pregenerate === 'credential' && keyOf !== brandId) {
    return { refusal: { code: 'brand_key_required', brandId } };
  }
  const isOwn = keyOf === brandId;
  if (!isOwn && origin !== undefined && !isPageOf(origin, [...brand.profile.domains, ...deps.ownHosts]))
    return { refusal: { code: 'origin_not_allowed', brandId, origin } };
  const known = await findPregenerated(database.db, registration);
  if (known) {
    if (isOwn) await notePregenerated(database.db, { brandId, userKey: known.userKey });
    return known.wallet;
  }

  // Two windows, so that strangers cannot use up the one of the brand's own servers.
  const scope = isOwn ? 'pregenerate with key' : 'pregenerate';
  const asked = { ...deps.limit, scope, subject: brandId, now: deps.businessTime() };
  const { userKey: ownKey } = await asOneUser(database.db, { brandId, userKey: registration.userKey });
  const hasWallet = (await findWallets(database.db, [ownKey])).has(ownKey);
  // The window is read before anything is locked: callers that are refused must not delay those that write wallets.
  const { nowMs, ...seen } = await readWindow(database.db, asked);
  if (seen.remaining === 0 && !hasWallet) return refused(brandId, seen);
  if (!isOwn && !hasWallet && address !== undefined) {
    const { taken = true, ...used } = deps.countAddress?.(address) ?? {};
    if (!taken) return refused(brandId, { ...seen, ...used });
  }
  try {
    return await database.atomically(async (tx) => {
      const identity = await ensureIdentity(tx, newIdentity(deps, registration, nowMs));
      const { userKey } = await asOneUser(tx, { brandId, userKey: identity.userKey });
      if (isOwn) await notePregenerated(tx, { brandId, userKey });
      const wallets = await ensureWallets(tx, { userKeys: [userKey], addressAt: deps.addressAt, nowMs });
      const wallet = wallets.get(userKey);
      if (!wallet) throw new Error('a user was left without a wallet');
      const { address: walletAddress, created: createdNew } = wallet;
      const answer = { walletAddress, idpUserId: identity.idpUserId, createdNew };
      if (!createdNew) return answer;
      const { taken, ...window } = await takeFromWindow(tx, asked);
      if (!taken) throw new WindowUsedUp(window);
      return { ...answer, window };
    });
  } catch (error) {
    if (error instanceof WindowUsedUp) return refused(brandId, error.window);
    throw error;
  }
}

/** Thrown to roll the commit back: the limit was reached while the wallet was being written. */
class WindowUsedUp extends Error {
  readonly window: RateWindow;
  constructor(window: RateWindow) {
    super('the limit of new wallets was reached');
    this.window = window;
  }
}

const refused = (brandId: BrandId, window: RateWindow): { refusal: PregenerateRefusal } => ({
  refusal: { code: 'rate_limit_exceeded', brandId, window },
});

/** What an earlier call made; undefined unless both the identity and its wallet exist. */
async function findPregenerated(
  db: Queries,
  registration: Registration,
): Promise<{ wallet: PregeneratedWallet; userKey: string } | undefined> {
  const identity = await findIdentity(db, registration);
  if (!identity) return undefined;
  const { idpUserId } = identity;
  // The account is the same at every brand; whose alias its name is, is the brand's word.
  const { userKey } = await asOneUser(db, { brandId: registration.brandId, userKey: identity.userKey });
  const wallet = (await findWallets(db, [userKey])).get(userKey);
  if (!wallet) return undefined;
  return { wallet: { walletAddress: wallet.address, idpUserId, createdNew: false }, userKey };
}

function newIdentity(deps: PregenerateDeps, registration: Registration, nowMs: number): Identity {
  const { provider, providerUserId, username, userKey } = registration;
  return { provider, providerUserId, userKey, idpUserId: deps.random.uuid(), username, createdAt: nowMs };
}
