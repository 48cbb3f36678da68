/** Unlocks achievements by what a block has paid, and tells the brands, in the commit that books the block. */

import type { BusinessTime } from '../../ledger/database/database.ts';
import { unlockByRewards } from '../../ledger/engagement/unlock-by-rewards.ts';
import { tellUnlocks } from '../../ledger/webhooks/tell-unlocks.ts';
import type { Random } from '../../lib/ids.ts';
import type { Announce } from '../follow/types.ts';
import { payoutsAmong, rewardsIn } from './count-paid-rewards.ts';

export const unlockAchievements =
  ({ random, businessTime }: { random: Pick<Random, 'uuid'>; businessTime: BusinessTime }): Announce =>
  async (tx, { transactions, nowMs }) => {
    const paid = payoutsAmong(transactions).flatMap(rewardsIn);
    if (paid.length === 0) return 0;
    const unlocked = await unlockByRewards(tx, { paid, nowMs });
    return tellUnlocks(tx, { unlocked, newId: () => random.uuid(), now: businessTime() });
  };
