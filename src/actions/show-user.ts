/** Everything about one user, and which users there are; for the control API. */
import type { RewardToken } from '../chain/contracts/reward-token.ts';
import { listBrands, listEventRules, type StoredBrand } from '../ledger/brands/brands.ts';
import { type BusinessTime, type Database, readTime } from '../ledger/database/database.ts';
import type { StreakKey } from '../ledger/engagement/streaks.ts';
import { claimKeyText, readClaimCounters } from '../ledger/rewards/claims.ts';
import { rewardsOfUser, sumRewards } from '../ledger/rewards/rewards.ts';
import { keysOfUsers } from '../ledger/wallets/aliases.ts';
import {
  findWallets,
  newestWallets,
  type Wallet,
  walletsNamed,
  walletsOfBrand,
} from '../ledger/wallets/wallets.ts';
import { isUnlimited } from '../rules/brands/brand.ts';
import { DAILY, type StreakCalendar, type StreakStanding } from '../rules/engagement/streak.ts';
import { findNamed } from './brands/named-brand.ts';
import { rewardProgress } from './rewards/reward-progress.ts';
import { showWallet, type WalletDetail } from './wallets/show-wallet.ts';

/** What one person looks at; more is in the leaderboards and the ledger. */
const REWARDS_SHOWN = 100;

export interface ShowUserDeps {
  database: Database;
  token: Pick<RewardToken, 'balanceOf'>;
  businessTime: BusinessTime;
  readStreak: (key: StreakKey) => Promise<(StreakStanding & StreakCalendar) | undefined>;
  /** Domain under which users of chat platforms have their stand-in e-mail. */
  ownDomain: string;
}

/** How far one user is with one event. */
export interface UserClaim {
  eventType: string;
  claims: number;
  /** Null: no limit. */
  maxClaims: number | null;
  lastAt: number;
  lastAmount: number;
  /** When the cooldown lets the next one pass; null: it does, or no further claim is left. */
  againAt: number | null;
}

/** A user with one brand. Amounts are whole RWT. */
export interface UserAtBrand {
  brandId: string;
  name: string;
  rewards: number;
  earned: number;
  streak: (StreakStanding & StreakCalendar) | undefined;
  claims: UserClaim[];
  aliases: string[];
}

export interface UserDetail extends WalletDetail {
  /** Whole RWT, as the chain has it now. */
  balance: bigint;
  /** Those with whom there is anything. */
  brands: UserAtBrand[];
  rewards: Awaited<ReturnType<typeof recentRewards>>;
}

/** Which users are wanted; `after` is the one that was listed last. */
interface WantedUsers {
  name?: string | undefined;
  /** Id or domain. */
  brand?: string | undefined;
  after?: string | undefined;
  limit: number;
}

type NoUsers =
  | { refusal: { code: 'brand_not_found'; name: string } }
  | { refusal: { code: 'wallet_not_found'; user: string } };

/**
 * Users of derived wallets, newest first; with a beginning, those whose e-mail or address begins so, and with a brand, those who
 * have claimed an event of it, in the order of their names. `more`: there are others after the last of these.
 */
export async function listUsers(
  { database: { db } }: Pick<ShowUserDeps, 'database'>,
  { name, brand, after, limit }: WantedUsers,
): Promise<{ users: Wallet[]; more: boolean } | NoUsers> {
  const page = (found: Wallet[]) => ({ users: found.slice(0, limit), more: found.length > limit });
  // One more than is shown says whether there are more.
  const named = { beginning: lowered(name) ?? '', after: lowered(after), limit: limit + 1 };
  if (brand !== undefined) {
    const known = await findNamed(db, brand);
    if (!known) return { refusal: { code: 'brand_not_found', name: brand } };
    return page(await walletsOfBrand(db, { brandId: known.brandId, ...named }));
  }
  if (name !== undefined) return page(await walletsNamed(db, named));
  if (named.after === undefined) return page(await newestWallets(db, { limit: limit + 1 }));
  const below = (await findWallets(db, [named.after])).get(named.after)?.derivationIndex ?? undefined;
  if (below === undefined) return { refusal: { code: 'wallet_not_found', user: named.after } };
  return page(await newestWallets(db, { below, limit: limit + 1 }));
}

const lowered = (text: string | undefined) => text?.trim().toLowerCase();

/** `name`: an e-mail, an address, or `<platform>:<id there>`. Undefined for one without a wallet. */
export async function showUser(deps: ShowUserDeps, name: string): Promise<UserDetail | undefined> {
  const found = await showWallet(deps, name);
  if (!found) return undefined;
  const { db } = deps.database;
  const { userKey, address } = found.wallet;
  const nowMs = await readTime({ db, now: deps.businessTime() });
  const brands: UserAtBrand[] = [];
  for (const brand of await listBrands(db)) {
    const one = await atBrand(deps, { brand, userKey, nowMs });
    if (one.rewards > 0 || one.claims.length > 0 || one.streak?.lastActivityAt) brands.push(one);
  }
  const userKeys = [userKey, ...brands.flatMap(({ aliases }) => aliases)];
  return {
    ...found,
    balance: await deps.token.balanceOf(address),
    brands,
    rewards: await recentRewards(deps, userKeys),
  };
}

async function atBrand(
  deps: ShowUserDeps,
  { brand, userKey, nowMs }: { brand: StoredBrand; userKey: string; nowMs: number },
): Promise<UserAtBrand> {
  const { db } = deps.database;
  const { brandId, name } = brand;
  const of = { brandId, userKey };
  const [, ...aliases] = (await keysOfUsers(db, [of]))(of);
  const { earned, claims: rewards } = await sumRewards(db, of);
  return {
    brandId,
    name,
    rewards,
    earned,
    streak: await deps.readStreak({ ...of, streakType: DAILY }),
    claims: await claimsAt(deps, { brand, userKeys: [userKey, ...aliases], nowMs }),
    aliases,
  };
}

/** What the user has claimed of the brand's events, under all of their names. */
async function claimsAt(
  { database: { db } }: ShowUserDeps,
  { brand: { brandId }, userKeys, nowMs }: { brand: StoredBrand; userKeys: string[]; nowMs: number },
): Promise<UserClaim[]> {
  const rules = await listEventRules(db, brandId);
  const keys = rules.flatMap(({ eventType }) => userKeys.map((userKey) => ({ brandId, eventType, userKey })));
  const counters = await readClaimCounters(db, keys);
  return rules.flatMap(({ eventType, maxClaims, cooldownMs }): UserClaim[] => {
    const ofRule = userKeys.flatMap(
      (userKey) => counters.get(claimKeyText({ brandId, eventType, userKey })) ?? [],
    );
    const [latest] = ofRule.sort((one, other) => other.lastAt - one.lastAt);
    if (!latest) return [];
    const claims = ofRule.reduce((sum, one) => sum + one.claims, 0);
    const isLeft = isUnlimited(maxClaims) || claims < maxClaims;
    const againAt = latest.lastAt + cooldownMs;
    return [
      {
        eventType,
        claims,
        maxClaims: isUnlimited(maxClaims) ? null : maxClaims,
        lastAt: latest.lastAt,
        lastAmount: latest.lastAmount,
        againAt: isLeft && againAt > nowMs ? againAt : null,
      },
    ];
  });
}

async function recentRewards({ database: { db } }: ShowUserDeps, userKeys: readonly string[]) {
  const rows = await rewardsOfUser(db, { userKeys, limit: REWARDS_SHOWN });
  return rows.map((row) => {
    const { id, brandId, eventType, amount, createdAt, failure } = row.reward;
    return { eventId: id, brandId, eventType, amount, createdAt, reason: failure, ...rewardProgress(row) };
  });
}
