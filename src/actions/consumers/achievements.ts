/** Unlocks achievements by what was paid, and tells the brands. An unlock stays when its block does not. */
import { unlockByRewards } from '../../ledger/engagement/unlock-by-rewards.ts';
import { tellUnlocks } from '../../ledger/webhooks/tell-unlocks.ts';
import type { Consumer, Fact } from './consumer.ts';

export const achievements: Consumer = {
  name: 'achievements',
  begins: 'now',
  async digest(tx, { kind, isGone, facts }, { clock, random, businessTime }) {
    if (kind === 'taken_back' || isGone) return 0;
    const unlock = (some: Fact[]) =>
      unlockByRewards(tx, {
        users: some.flatMap((fact) => (fact.of === 'reward' ? fact.reward : [])),
        nowMs: clock.now(),
      });
    const unlocked = await unlock(facts.filter(({ isRecovered }) => !isRecovered));
    await unlock(facts.filter(({ isRecovered }) => isRecovered));
    return tellUnlocks(tx, { unlocked, newId: () => random.uuid(), now: businessTime() });
  },
};
