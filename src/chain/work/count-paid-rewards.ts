/** What the payouts in a block pay; tells the leaderboards of it, and of what the chain took back. */
import { countPayouts, takeBackPayouts } from '../../ledger/engagement/count-rewards.ts';
import { paidInPayout, sequencesInPayout } from '../contracts/payout-batch.ts';
import type { BookedBytes, PaidCounts } from '../follow/types.ts';

type PaidReward = ReturnType<typeof paidInPayout>[number];

/** The payouts among these transactions that had their effect. */
export const payoutsAmong = (transactions: BookedBytes[]): BookedBytes[] =>
  transactions.filter(({ purpose, outcome }) => purpose === 'payout' && outcome === 'done');

const known = new WeakMap<BookedBytes, PaidReward[]>();

/** The rewards that a payout carries; its calldata is read once, however many ask. */
export function rewardsIn(payout: BookedBytes): PaidReward[] {
  const rewards = known.get(payout) ?? paidInPayout(payout.raw);
  known.set(payout, rewards);
  return rewards;
}

/** Their sequences. */
export const sequencesIn = (payout: BookedBytes): number[] =>
  rewardsIn(payout).map(({ sequence }) => sequence);

/** Rewards counted in one commit, which takes a few milliseconds; a payout is never split. */
const REWARDS_AT_ONCE = 128;

export const paidCounts: PaidCounts = {
  pieces(booked) {
    const pieces: BookedBytes[][] = [];
    let rewards = REWARDS_AT_ONCE;
    for (const payout of payoutsAmong(booked)) {
      const own = rewardsIn(payout).length;
      if (rewards + own > REWARDS_AT_ONCE) {
        pieces.push([]);
        rewards = 0;
      }
      pieces.at(-1)?.push(payout);
      rewards += own;
    }
    return pieces;
  },
  count: (tx, payouts) =>
    countPayouts(
      tx,
      payouts.map((one) => ({ transactionId: one.id, sequences: sequencesIn(one) })),
    ),
  takeBack: (tx, transactionIds) => takeBackPayouts(tx, { transactionIds, sequencesOf: sequencesInPayout }),
};
