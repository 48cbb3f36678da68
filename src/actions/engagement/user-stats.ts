/** What a user has, has earned and has done at a brand: read, and reported by the brand's clients. */
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import { readEventRules } from '../../ledger/brands/brands.ts';
import { type BusinessTime, type Database, type Queries, readTime } from '../../ledger/database/database.ts';
import { countActivity, nameBoardUser } from '../../ledger/engagement/count-activity.ts';
import { addUserActivity, readUserActivity, recordReport } from '../../ledger/engagement/user-activity.ts';
import { spentOnPerks } from '../../ledger/perks/redemptions.ts';
import { sumRewards } from '../../ledger/rewards/rewards.ts';
import type { Random } from '../../lib/ids.ts';
import type { Brand, BrandId } from '../../rules/brands/brand.ts';
import { type ActivityKind, activityKindOf } from '../../rules/engagement/activity-kind.ts';
import { DAILY } from '../../rules/engagement/streak.ts';
import { isGrantType } from '../../rules/grant-types.ts';
import { asOneUser } from '../wallets/one-user.ts';
import { readBalance } from '../wallets/read-balance.ts';
import { admitWrite, type WriteRefusal, type Writer } from './admit-write.ts';
import { rankOfUser } from './read-leaderboard.ts';
import { readStreak } from './read-streaks.ts';

export interface WantedStats {
  brandId: BrandId;
  userKey: string;
  userAddress: `0x${string}` | undefined;
  /** Where the server's rank is asked for. */
  platform: string | undefined;
}

/** Amounts are whole RWT. */
export interface UserStats {
  /** As the chain has it now. */
  balance: bigint;
  /** Of names that are aliases of the user by now. */
  otherWallets: { walletAddress: `0x${string}`; balance: bigint }[];
  lifetime: { earned: number; spent: number; claims: number };
  streak: { current: number; longest: number };
  /** As the brand's clients reported it. */
  activity: Record<ActivityKind, number>;
  /** 0: no place yet. */
  rank: { server: number; global: number };
}

/** An unknown user has zeros. Undefined when the brand does not exist. */
export async function readUserStats(
  deps: { database: Database; businessTime: BusinessTime; token: RewardToken },
  wanted: WantedStats,
): Promise<UserStats | undefined> {
  const { brandId, userKey, userAddress, platform } = await asOneUser(deps.database.db, wanted);
  const held = await readBalance(deps, { brandId, userKey, userAddress, historyLimit: 0 });
  if (!held) return undefined;
  const { earned, claims } = await sumRewards(deps.database.db, { brandId, userKey });
  const spent = await spentOnPerks(deps.database.db, { brandId, userKey });
  const streak = await readStreak(deps, { brandId, userKey, streakType: DAILY });
  return {
    balance: held.balance,
    otherWallets: held.otherWallets,
    lifetime: { earned, spent, claims },
    streak: { current: streak?.currentStreak ?? 0, longest: streak?.longestStreak ?? 0 },
    activity: await readUserActivity(deps.database.db, { brandId, userKey }),
    rank: await rankOfUser(deps.database.db, { brandId, userKey, platform }),
  };
}

// Takes a report of what a user did or earned elsewhere, for the leaderboards. It never pays anything.

export interface StatsReport {
  brandId: BrandId;
  userKey: string;
  platform: string | undefined;
  /** Whole RWT. */
  rwtAmount: number;
  claimType: string | undefined;
  /** Messages, minutes in voice channels or reactions, where `claimType` says that it reports them. */
  count: number;
  displayName: string | undefined;
}

interface UpdateStatsDeps {
  database: Database;
  businessTime: BusinessTime;
  random: Pick<Random, 'uuid'>;
  ownHosts: readonly string[];
}

/**
 * Counts the report as one activity. Its RWT are added to the user's, with a row of their own, unless `claimType` is an event
 * that the service pays: then the ledger counts them by itself. A `claimType` of chat activity adds `count` to what the user did.
 */
export async function updateStats(
  { database, businessTime, random, ownHosts }: UpdateStatsDeps,
  { report, writer }: { report: StatsReport; writer: Writer },
): Promise<{ counted: boolean } | { refusal: WriteRefusal }> {
  return database.atomically(async (tx) => {
    const { brandId, userKey, platform, rwtAmount: amount, claimType = null, displayName } = report;
    const admitted = await admitWrite(tx, { brandId, writer, ownHosts });
    if ('refusal' in admitted) return admitted;
    const { brand, withBrandKey } = admitted;
    const counted = amount > 0 && !(await isPaidHere(tx, report));
    const atMs = await readTime({ db: tx, now: businessTime() });
    const what = { brandId, userKey, platform, atMs, timeZone: zoneOf(brand) };
    if (counted) {
      const id = `rep_${random.uuid()}`;
      const of = { brandId, userKey, platform: platform ?? '', amount, claimType };
      await recordReport(tx, { id, ...of, withBrandKey, createdAt: atMs });
    }
    await countActivity(tx, [{ ...what, activity: 1, ...(counted && { rwtEarned: amount, claims: 1 }) }]);
    const kind = activityKindOf(claimType ?? undefined);
    if (kind) await addUserActivity(tx, { brandId, userKey, kind, count: report.count });
    await nameBoardUser(tx, { brandId, userKey, platform: platform ?? 'web', displayName });
    return { counted };
  });
}

const zoneOf = ({ profile }: Brand) => profile.timeZone ?? 'UTC';

async function isPaidHere(tx: Queries, { brandId, claimType }: StatsReport): Promise<boolean> {
  if (claimType === undefined) return false;
  if (isGrantType(claimType)) return true;
  const rules = await readEventRules(tx, { brandIds: [brandId], eventTypes: [claimType] });
  return rules.size > 0;
}
