/** The contract's Reward result: success body of manual-event, in its documented order. */
import type { PaidReward } from '../../actions/events/reward-event.ts';
import type { RewardResult } from '../../contract/events/manual-event.ts';

export function rewardReply(paid: PaidReward): RewardResult {
  const { rewardId, amount, eventType, wallet, walletCreated, transactionHash, brandId } = paid;
  return {
    success: true,
    eventId: rewardId,
    message: `Event recorded: ${amount} RWT on the way to ${wallet}`,
    rewardAmount: amount,
    rwtDistributed: amount,
    eventType,
    brandId,
    status: 'rewarded',
    walletCreated,
    walletAddress: wallet,
    transactionHash,
    reward: { amount, eventType, walletAddress: wallet, transactionHash },
  };
}
