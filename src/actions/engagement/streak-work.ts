/** What changes of streaks share: their deps, and the commit in which a brand's streak is read and its money locked. */
import { readBrandsAndTime, type StoredBrand } from '../../ledger/brands/brands.ts';
import {
  type BusinessTime,
  type Database,
  isContention,
  type Queries,
  tryAgain,
} from '../../ledger/database/database.ts';
import { lockFundsAndAliases } from '../../ledger/rewards/funds.ts';
import { keysOfUsers, type UserKeys } from '../../ledger/wallets/aliases.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Crash } from '../../lib/crash-points.ts';
import type { Random } from '../../lib/ids.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import { type StreakTerms, streakPays, streakTerms, termsOfType } from '../../rules/engagement/streak.ts';
import type { GrantDeps, PayoutDeps } from '../rewards/grant-reward.ts';
import { Overtaken } from '../rewards/record-grants.ts';
import { type ActivityPlace, type ActivityRefusal, refuseActivity, type Writer } from './admit-write.ts';

export interface StreakDeps extends GrantDeps, PayoutDeps {
  database: Database;
  clock: Clock;
  businessTime: BusinessTime;
  random: Random;
  crash: Crash;
  /** Hosts of the service itself. */
  ownHosts: readonly string[];
  /** The domain below which chat platforms have names. */
  ownDomain?: string | undefined;
  /**
   * Runs the changes of one brand one after the other: all of them wait for the row of its funds, and each that waits in
   * the database keeps a connection from everybody else.
   */
  inTurn: <T>(brandId: BrandId, change: () => Promise<T>) => Promise<T>;
  /** Tries of a commit that conflicts with another process. */
  triesMax: number;
  /** Types of streaks that a user may have with a brand. */
  typesMax: number;
  /** Webhooks are due. */
  nudgeWebhooks: () => void;
}

/** A request about one streak of one user. */
export interface StreakRequest {
  brandId: BrandId;
  userKey: string;
  userAddress: `0x${string}` | undefined;
  /** Where the user is active. */
  platform: string | undefined;
  streakType: string;
  writer: Writer;
  /** Where it happened, as the request says. */
  place: ActivityPlace;
}

/** What a change is decided by. `servicePays`: rewards are paid here, and the brand's funds are locked. */
export interface StreakGrounds {
  brand: Brand;
  terms: StreakTerms;
  nowMs: number;
  servicePays: boolean;
  /** Further names under which the ledger has the user. */
  aliases: readonly string[];
}

/**
 * Runs `work` in one commit, again where another process was faster. The brand's money is locked before any streak, in
 * the order of everybody who pays.
 */
export function changeStreak<Request extends StreakRequest, Result>(
  deps: StreakDeps,
  request: Request,
  work: (tx: Queries, of: { request: Request; grounds: StreakGrounds }) => Promise<Result>,
): Promise<Result | { refusal: ActivityRefusal }> {
  const { database, clock, businessTime, crash, triesMax } = deps;
  const { brandId, streakType } = request;
  const change = async () => {
    const changed = await database.atomically(async (tx) => {
      const read = await readBrandsAndTime(tx, { brandIds: [brandId], now: businessTime() });
      const brand = read.brands.get(brandId);
      if (!brand) return { refusal: { code: 'brand_not_found' as const, brandId } };
      const all = streakTerms(brand);
      const pays = streakPays(all, streakType);
      const refusal = await refuseActivity(tx, { ...request, brand, pays }, deps);
      if (refusal) return { refusal };
      const servicePays = pays && all.streakPays === 'service';
      // Aliases that were changed since the brand was read would hide what the user has under another name.
      const locked = servicePays ? await lockFundsAndAliases(tx, [brandId]) : undefined;
      if (locked && (locked.aliases.get(brandId) ?? 0) !== (brand.aliases ?? 0)) throw new Overtaken();
      const terms = termsOfType(all, streakType);
      const [userKey, ...aliases] = await keysOf(tx, brand, request);
      const grounds = { brand, terms, nowMs: read.nowMs ?? clock.now(), servicePays, aliases };
      const result = await work(tx, { request: { ...request, userKey }, grounds });
      crash('reserve.before-commit');
      return result;
    });
    crash('reserve.committed');
    return changed;
  };
  const isPassing = (error: unknown) => error instanceof Overtaken || isContention(error);
  return deps.inTurn(brandId, () => tryAgain(change, { triesMax, isPassing }));
}

/** The user's keys; one who is named by an address of their own has that alone. */
async function keysOf(tx: Queries, brand: StoredBrand, request: StreakRequest): Promise<UserKeys> {
  const { userKey, userAddress } = request;
  if (!brand.aliases || userAddress !== undefined) return [userKey];
  return (await keysOfUsers(tx, [request]))(request);
}

/** Users who are known by an address have no e-mail. */
export const emailOf = ({ userKey, userAddress }: Pick<StreakRequest, 'userKey' | 'userAddress'>) =>
  userAddress === undefined ? userKey : undefined;
