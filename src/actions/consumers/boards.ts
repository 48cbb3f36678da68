/** Counts what was paid on the leaderboards, and takes it off again with its block. */
import { countPaidRewards } from '../../ledger/engagement/count-rewards.ts';
import type { Consumer } from './consumer.ts';

export const boards: Consumer = {
  name: 'boards',
  begins: 'at the first fact',
  async digest(tx, { kind, facts }) {
    const paid = facts.flatMap((fact) => (fact.of === 'reward' ? fact.reward : []));
    await countPaidRewards(tx, paid, kind === 'booked' ? 1 : -1);
    return 0;
  },
};
