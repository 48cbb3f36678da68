/** What a user has, has earned and has done at a brand. */
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import type { BusinessTime, Database } from '../../ledger/database/database.ts';
import { readUserActivity } from '../../ledger/engagement/user-activity.ts';
import { spentOnPerks } from '../../ledger/perks/redemptions.ts';
import { sumRewards } from '../../ledger/rewards/rewards.ts';
import type { BrandId } from '../../rules/brands/brand.ts';
import type { ActivityKind } from '../../rules/engagement/activity-kind.ts';
import { DAILY } from '../../rules/engagement/streak.ts';
import { asOneUser } from '../wallets/one-user.ts';
import { readBalance } from '../wallets/read-balance.ts';
import { rankOfUser } from './read-leaderboard.ts';
import { readStreak } from './read-streak.ts';

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
