/** The contract's Reward result: success body of manual-event, in its documented order. */
import type { PaidOutcome } from '../../actions/events/reward-event.ts';
import type { RewardResult } from '../../contract/events/manual-event.ts';
import { checksummed } from '../../identity/checksum.ts';

export function rewardReply({ paid, transactionHash }: PaidOutcome): RewardResult {
  const { rewardId, amount, eventType, walletCreated, brandId } = paid;
  // A new wallet has its checksum from where it was made, which saves 3 µs; an address of the user's own has none.
  const wallet = walletCreated ? paid.wallet : checksummed(paid.wallet);
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
