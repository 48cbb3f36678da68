/** Has a granted reward sent, and waits for its transaction. */
import type { Milestone, RewardWaiters } from '../../chain/waiting/reward-waiters.ts';
import type { RewardProgress } from '../../ledger/rewards/rewards.ts';

export interface PayoutDeps {
  payouts: { nudge(): void };
  progress: Pick<RewardWaiters, 'waitFor'>;
  /** How far the transaction must be before the caller is answered. */
  answerWhen: Milestone;
  /** The longest that a caller waits for it, in real time. */
  answerTimeoutMs: number;
}

/** Undefined where the time is over first: the reward is still on its way. */
export function awaitPayout(
  { payouts, progress, answerWhen: until, answerTimeoutMs: timeoutMs }: PayoutDeps,
  rewardId: string,
): Promise<RewardProgress | undefined> {
  // Before the lane is nudged, which may be faster than the next line.
  const waiting = progress.waitFor({ rewardId, until, timeoutMs });
  payouts.nudge();
  return waiting;
}
