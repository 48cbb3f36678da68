/** The work of the payout lane: gathers the rewards that wait into one transaction of the escrow, and settles it. */
import type { Queries } from '../../ledger/database/database.ts';
import { areRewardsWaiting, bindRewards, waitingRewards } from '../../ledger/rewards/rewards.ts';
import { settleRewards } from '../../ledger/rewards/settle-rewards.ts';
import type { Settle } from '../../ledger/transactions/settle.ts';
import {
  type BatchForm,
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
  /** How that escrow takes its batches. */
  form: BatchForm;
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
  return {
    isWaiting: areRewardsWaiting,
    async bindNext(tx: Queries, [transactionId], { maxFeePerGas }) {
      const waiting = await waitingRewards(tx, settings.batchMax);
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
      return [{ to: settings.escrow, data: encodePayoutBatch(entries, settings.form), valueWei: 0n, gas }];
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

/** Rewards that were paid stay; others wait again, or give their claims back. */
export const settlePayouts: Settle = (tx, settled) =>
  settleRewards(tx, { ...settled, sequencesOf: sequencesInPayout });
