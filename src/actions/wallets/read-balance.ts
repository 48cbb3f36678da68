/** What a user has earned and holds (contract: GET and POST user-balance). */
import type { RewardToken } from '../../chain/contracts/reward-token.ts';
import { findBrand } from '../../ledger/brands/brands.ts';
import type { Database } from '../../ledger/database/database.ts';
import { rewardHistory } from '../../ledger/rewards/rewards.ts';
import { keysOfUsers } from '../../ledger/wallets/aliases.ts';
import { findWallets } from '../../ledger/wallets/wallets.ts';
import type { BrandId } from '../../rules/brands/brand.ts';

export interface UserBalance {
  /** Whole RWT, as the chain has it now. */
  balance: bigint;
  walletAddress: `0x${string}` | undefined;
  /** Of names that are aliases of the user by now: what lies there stays there. */
  otherWallets: { walletAddress: `0x${string}`; balance: bigint }[];
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
  const { brandId, historyLimit } = wanted;
  const brand = await findBrand(database.db, brandId);
  if (!brand) return undefined;
  const isNamed = brand.aliases && wanted.userAddress === undefined;
  const [userKey, ...aliases] = isNamed
    ? (await keysOfUsers(database.db, [wanted]))(wanted)
    : [wanted.userKey];
  const wallets = await findWallets(database.db, [userKey, ...aliases]);
  const known = wallets.get(userKey);
  const walletAddress = wanted.userAddress ?? known?.address;
  const balance = walletAddress ? await token.balanceOf(walletAddress) : 0n;
  const history =
    historyLimit > 0 ? await rewardHistory(database.db, { brandId, userKey, limit: historyLimit }) : [];
  const otherWallets: UserBalance['otherWallets'] = [];
  for (const alias of aliases) {
    const address = wallets.get(alias)?.address;
    if (address !== undefined)
      otherWallets.push({ walletAddress: address, balance: await token.balanceOf(address) });
  }
  return { balance, walletAddress, history, otherWallets };
}
