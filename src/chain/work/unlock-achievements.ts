/** Unlocks achievements by what a block has paid, and tells the brands, in the commit that books the block. */
import { unlockByRewards } from '../../ledger/engagement/unlock-by-rewards.ts';
import { tellUnlocks } from '../../ledger/webhooks/tell-unlocks.ts';
import type { Random } from '../../lib/ids.ts';
import { sequencesInPayout } from '../contracts/payout-batch.ts';
import type { Announce } from '../follow/types.ts';

export const unlockAchievements =
  ({ random }: { random: Pick<Random, 'uuid'> }): Announce =>
  async (tx, { transactions, nowMs }) => {
    const paying = transactions.filter(({ purpose, outcome }) => purpose === 'payout' && outcome === 'done');
    if (paying.length === 0) return 0;
    const sequences = paying.flatMap(({ raw }) => sequencesInPayout(raw));
    const unlocked = await unlockByRewards(tx, { sequences, nowMs });
    return tellUnlocks(tx, { unlocked, newId: () => random.uuid(), nowMs });
  };
