/** Claims the bonus of a milestone that a user's streak has reached: once, on chain like any reward. */
import type { Queries } from '../../ledger/database/database.ts';
import { claimedMilestones, findStreak, takeMilestone } from '../../ledger/engagement/streaks.ts';
import { type Milestone, milestonesOf } from '../../rules/engagement/streak.ts';
import { awaitPayout, type GrantRefusal, grantReward } from '../rewards/grant-reward.ts';
import { Overtaken } from '../rewards/record-grants.ts';
import type { ActivityRefusal } from './admit-write.ts';
import {
  changeStreak,
  emailOf,
  type StreakDeps,
  type StreakGrounds,
  type StreakRequest,
} from './streak-work.ts';

export type MilestoneRefusal =
  | { code: 'milestone_unknown'; days: number; known: number[] }
  | { code: 'milestone_not_reached'; days: number; longestStreak: number }
  | { code: 'milestone_claimed'; days: number };

export type ClaimMilestoneRefusal =
  | ActivityRefusal
  | GrantRefusal
  | MilestoneRefusal
  | { code: 'payout_failed'; rewardId: string; reason: string };

export interface ClaimedMilestone extends Milestone {
  /** Absent where the brand's events pay for streaks: then the service only notes the claim. */
  rewardId?: string | undefined;
  transactionHash?: `0x${string}` | null | undefined;
}

/** A bonus whose reward failed for good can be claimed again. */
export async function claimMilestone(
  deps: StreakDeps,
  request: StreakRequest & { milestoneDays: number },
): Promise<ClaimedMilestone | { refusal: ClaimMilestoneRefusal }> {
  const claimed = await changeStreak(deps, request, (tx, of) => claim(deps, tx, of));
  if ('refusal' in claimed || claimed.rewardId === undefined) return claimed;
  const { rewardId } = claimed;
  const payout = await awaitPayout(deps, rewardId);
  if (payout && payout.failure !== null)
    return { refusal: { code: 'payout_failed', rewardId, reason: payout.failure } };
  return { ...claimed, transactionHash: payout?.hash ?? null };
}

async function claim(
  deps: StreakDeps,
  tx: Queries,
  { request, grounds }: { request: StreakRequest & { milestoneDays: number }; grounds: StreakGrounds },
): Promise<ClaimedMilestone | { refusal: ClaimMilestoneRefusal }> {
  const { milestoneDays: days, brandId, userKey, userAddress, streakType, platform } = request;
  const { brand, terms, nowMs, servicePays } = grounds;
  const milestones = milestonesOf(terms);
  const milestone = milestones.find((one) => one.days === days);
  if (!milestone)
    return { refusal: { code: 'milestone_unknown', days, known: milestones.map((one) => one.days) } };
  const longestStreak = (await findStreak(tx, request))?.longest ?? 0;
  if (longestStreak < days) return { refusal: { code: 'milestone_not_reached', days, longestStreak } };
  if ((await claimedMilestones(tx, request, grounds.aliases)).has(days))
    return { refusal: { code: 'milestone_claimed', days } };

  const { bonus } = milestone;
  const rewardId = servicePays ? deps.random.uuid() : null;
  if (rewardId !== null) {
    const user = { userKey, userAddress, userEmail: emailOf(request), platform };
    const metadata = { streakType, milestoneDays: days };
    const wish = { rewardId, brand, eventType: 'streak_milestone' as const, ...user, metadata, nowMs };
    const outcome = await grantReward(deps, tx, { ...wish, amount: bonus });
    if ('refusal' in outcome) return outcome;
  }
  const taken = { brandId, userKey, streakType, days, bonus, rewardId, claimedAt: nowMs };
  if (!(await takeMilestone(tx, taken))) throw new Overtaken();
  return { ...milestone, ...(rewardId !== null && { rewardId }) };
}
