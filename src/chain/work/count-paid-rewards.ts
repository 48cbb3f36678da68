/** Tells the leaderboards which rewards blocks have paid, and which ones the chain took back. */
import { countPayouts, takeBackPayouts } from '../../ledger/engagement/count-rewards.ts';
import { sequencesInPayout } from '../contracts/payout-batch.ts';
import type { PaidCounts } from '../follow/types.ts';

export const paidCounts: PaidCounts = {
  async count(tx, transactions) {
    const paying = transactions.filter(({ purpose, outcome }) => purpose === 'payout' && outcome === 'done');
    await countPayouts(
      tx,
      paying.map(({ id, raw }) => ({ transactionId: id, sequences: sequencesInPayout(raw) })),
    );
  },
  takeBack: (tx, transactionIds) => takeBackPayouts(tx, { transactionIds, sequencesOf: sequencesInPayout }),
};
