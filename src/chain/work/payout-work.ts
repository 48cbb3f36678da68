/** The work of the payout lane: gathers the rewards that wait into one transaction of the escrow, and settles it. */
import type { Queries } from '../../ledger/database/database.ts';
import {
  areRewardsWaiting,
  bindRewards,
  untriedRewards,
  type WaitingReward,
  waitingRewards,
} from '../../ledger/rewards/rewards.ts';
import { settleRewards } from '../../ledger/rewards/settle-rewards.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import {
  batchShape,
  encodePayoutBatch,
  fittingPayouts,
  payoutGasLimit,
  sequencesInPayout,
} from '../contracts/payout-batch.ts';
import type { LaneWork } from '../lane/types.ts';
import type { RewardProgressBoard } from '../waiting/reward-outcome.ts';

interface PayoutSettings {
  escrow: `0x${string}`;
  /** Rewards in one transaction at most. */
  batchMax: number;
  /** The most that one transaction offers for all its gas: nodes refuse what is above a cap of theirs. */
  offerMaxWei: bigint;
}

/** `progress` is told which rewards a transaction carries, and when a node has it. */
export function payoutWork(deps: {
  settings: PayoutSettings;
  progress: Pick<RewardProgressBoard, 'carried' | 'sent'>;
}): LaneWork {
  const { settings, progress } = deps;
  const carried = new Map<string, string[]>();
  const nextRewards = rewardsInTurn(settings.batchMax);
  return {
    isWaiting: areRewardsWaiting,
    async bindNext(tx: Queries, [transactionId], { maxFeePerGas }) {
      const waiting = await nextRewards(tx);
      if (waiting.length === 0 || transactionId === undefined) return [];
      const candidates = waiting.map(({ sequence, brandId, wallet, amount }) => ({
        sequence: BigInt(sequence),
        brandId,
        to: wallet,
        amount: BigInt(amount),
      }));
      const entries = candidates.slice(
        0,
        fittingPayouts(candidates, {
          countMax: settings.batchMax,
          gasMax: settings.offerMaxWei / maxFeePerGas,
        }),
      );
      const rewards = waiting.slice(0, entries.length);
      await bindRewards(tx, { sequences: rewards.map(({ sequence }) => sequence), transactionId });
      carried.set(
        transactionId,
        rewards.map(({ id }) => id),
      );
      const { count, brands, words } = batchShape(entries);
      const gas = payoutGasLimit(count, brands, words);
      return [{ to: settings.escrow, data: encodePayoutBatch(entries), valueWei: 0n, gas }];
    },
    stored({ id, hash }) {
      const rewardIds = carried.get(id) ?? [];
      // Commits that failed left their entries behind; a payout lane stores one transaction a commit.
      carried.clear();
      progress.carried({ id, hash, rewardIds });
    },
    sent: progress.sent,
  };
}

/** After each transaction that did nothing, the next one carries so much less. */
const FEWER_BY = 20;

/**
 * What the next transaction may pay. A transaction that did nothing may have done nothing for one of its rewards alone. So
 * those are tried again apart from the others, in smaller and smaller parts, every other time while new ones wait: the
 * good ones are paid, and the bad one is alone when it fails for the last time.
 */
function rewardsInTurn(batchMax: number): (tx: Queries) => Promise<WaitingReward[]> {
  let isRetriedNext = true;
  return async (tx) => {
    const waiting = await waitingRewards(tx, batchMax);
    const [retried] = waiting.filter(({ failedTries }) => failedTries > 0);
    if (!retried) return waiting;
    isRetriedNext = !isRetriedNext;
    if (!isRetriedNext) {
      const untried = await untriedRewards(tx, batchMax);
      if (untried.length > 0) return untried;
    }
    const { failedTries } = retried;
    const countMax = Math.max(1, Math.floor(batchMax / FEWER_BY ** failedTries));
    return waiting.filter((one) => one.failedTries === failedTries).slice(0, countMax);
  };
}

/** Rewards that were paid stay; others wait again, or give their claims back. */
export const settlePayouts: Settle = (tx, settled) =>
  settleRewards(tx, { ...settled, sequencesOf: sequencesInPayout });
