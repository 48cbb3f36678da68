/** What a user has earned and holds (contract: GET and POST user-balance). */
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { rewardHistory } from '../../ledger/rewards/rewards.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export interface UserBalance {
  /** Whole RWT, as the chain has it now. */
  balance: bigint;
  walletAddress: `0x${string}` | undefined;
  history: { transactionHash: `0x${string}` | null; eventType: string; amount: number; timestamp: number }[];
}

export interface WantedBalance {
  brandId: BrandId;
  userKey: string;
  userAddress: `0x${string}` | undefined;
  /** 0: no history. */
  historyLimit: number;
}

/** A user without a wallet holds 0 RWT. Undefined when the brand does not exist. */
export async function readBalance(
  deps: { database: Database; token: RewardToken },
  wanted: WantedBalance,
): Promise<UserBalance | undefined> {
  const { database, token } = deps;
  const { brandId, userKey, historyLimit } = wanted;
  if (!(await findBrand(database.db, brandId))) return undefined;
  const known = (await findWallets(database.db, [userKey])).get(userKey);
  const walletAddress = wanted.userAddress ?? known?.address;
  const balance = walletAddress ? await token.balanceOf(walletAddress) : 0n;
  const history =
    historyLimit > 0 ? await rewardHistory(database.db, { brandId, userKey, limit: historyLimit }) : [];
  return { balance, walletAddress, history };
}
