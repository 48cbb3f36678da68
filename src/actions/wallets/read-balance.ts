/** What a user has earned and holds (contract: GET and POST user-balance). */
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
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

/** A user who is not known yet holds nothing. `historyLimit` 0: no history. */
export async function readBalance(
  deps: { database: Database; token: RewardToken },
  wanted: { brandId: BrandId; userKey: string; userAddress: `0x${string}` | undefined; historyLimit: number },
): Promise<UserBalance> {
  const { database, token } = deps;
  const { brandId, userKey, historyLimit } = wanted;
  const known = (await findWallets(database.db, [userKey])).get(userKey);
  const walletAddress = wanted.userAddress ?? known?.address;
  const balance = walletAddress ? await token.balanceOf(walletAddress) : 0n;
  const history =
    historyLimit > 0 ? await rewardHistory(database.db, { brandId, userKey, limit: historyLimit }) : [];
  return { balance, walletAddress, history };
}
