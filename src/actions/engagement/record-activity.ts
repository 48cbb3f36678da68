/** Records that a user was active: once for each calendar day, with the reward of a check-in where the service pays it. */
import { atMs as moment, type Queries } from '../../ledger/database/database.ts';
import { countActivity, nameBoardUser } from '../../ledger/engagement/count-activity.ts';
import {
  claimedMilestones,
  countStreakTypes,
  findStreak,
  type StreakKey,
  saveStreak,
} from '../../ledger/engagement/streaks.ts';
import { queueWebhookEvents } from '../../ledger/webhooks/queue-events.ts';
import { achievementsOf } from '../../rules/brands/achievement.ts';
import {
  checkInReward,
  dayText,
  type Milestone,
  milestoneReached,
  multiplierAt,
  type Streak,
  type StreakStanding,
  standing,
  withActivity,
} from '../../rules/engagement/streak.ts';
import { webhookBody } from '../../rules/webhook-body.ts';
import { awaitPayout, type GrantRefusal, grantReward } from '../rewards/grant-reward.ts';
import { Overtaken } from '../rewards/record-grants.ts';
import { unlockReached } from './achievements.ts';
import type { ActivityRefusal } from './admit-write.ts';
import {
  changeStreak,
  emailOf,
  type StreakDeps,
  type StreakGrounds,
  type StreakRequest,
} from './streak-work.ts';

export type RecordRefusal =
  | ActivityRefusal
  | GrantRefusal
  | { code: 'too_many_streak_types'; typesMax: number }
  | { code: 'payout_failed'; rewardId: string; reason: string };

export interface RecordedActivity extends StreakStanding {
  /** False where the user was active on this day before: then nothing was changed. */
  isNew: boolean;
  /** The streak as it was before, also where it had ended. */
  previousStreak: number;
  reward: {
    /** Whole RWT before the multiplier. */
    base: number;
    /** What this activity earns; 0 on a day that was counted before. Where events pay, what the event will earn. */
    final: number;
    /** Reached by this activity. */
    milestone?: Milestone | undefined;
    /** Absent where the service paid nothing. */
    rewardId?: string | undefined;
    transactionHash?: `0x${string}` | null | undefined;
  };
}

/**
 * A second call on a calendar day of the brand's time zone changes nothing and says so. When the reward cannot be granted
 * nothing is recorded, so that the caller can try again.
 */
export async function recordActivity(
  deps: StreakDeps,
  request: StreakRequest,
): Promise<RecordedActivity | { refusal: RecordRefusal }> {
  const recorded = await changeStreak(deps, request, (tx, of) => record(deps, tx, of));
  if ('refusal' in recorded) return recorded;
  const { rewardId, milestone } = recorded.reward;
  if (milestone) deps.nudgeWebhooks();
  if (rewardId === undefined) return recorded;
  const payout = await awaitPayout(deps, rewardId);
  if (payout && payout.failure !== null)
    return { refusal: { code: 'payout_failed', rewardId, reason: payout.failure } };
  return { ...recorded, reward: { ...recorded.reward, transactionHash: payout?.hash ?? null } };
}

interface Recording {
  request: StreakRequest;
  grounds: StreakGrounds;
}

async function record(
  deps: StreakDeps,
  tx: Queries,
  { request, grounds }: Recording,
): Promise<RecordedActivity | { refusal: RecordRefusal }> {
  const { terms, nowMs } = grounds;
  const before = await findStreak(tx, request);
  const claimed = await claimedMilestones(tx, request, grounds.aliases);
  const previousStreak = before?.current ?? 0;
  const { isNew, streak } = withActivity(before, { terms, nowMs });
  if (!isNew) {
    const now = standing(streak, { terms, nowMs, claimed });
    return { ...now, isNew, previousStreak, reward: { base: terms.streakBase, final: 0 } };
  }
  const { typesMax } = deps;
  if (!before && (await countStreakTypes(tx, request)) >= typesMax)
    return { refusal: { code: 'too_many_streak_types', typesMax } };
  const final = checkInReward(terms, multiplierAt(streak.current, terms));
  const paid = await pay(deps, tx, { request, grounds, streak, amount: final });
  if ('refusal' in paid) return paid;
  if (!(await saveStreak(tx, request, streak))) throw new Overtaken();
  const milestone = milestoneReached(terms, { before, after: streak });
  await tell(deps, tx, { request, grounds, streak, milestone });
  return {
    ...standing(streak, { terms, nowMs, claimed }),
    isNew,
    previousStreak,
    reward: { base: terms.streakBase, final, milestone, ...paid },
  };
}

async function pay(
  deps: StreakDeps,
  tx: Queries,
  { request, grounds, streak, amount }: Recording & { streak: Streak; amount: number },
): Promise<{ rewardId?: string } | { refusal: GrantRefusal }> {
  const { brand, nowMs, servicePays, terms } = grounds;
  if (!servicePays || amount === 0) return {};
  const { userKey, userAddress, streakType, platform } = request;
  const rewardId = deps.random.uuid();
  const metadata = {
    streakType,
    day: dayText(streak.lastDay),
    currentStreak: streak.current,
    multiplier: multiplierAt(streak.current, terms),
  };
  const user = { userKey, userAddress, userEmail: emailOf(request), platform };
  const wish = { rewardId, brand, eventType: 'streak_checkin' as const, ...user, metadata, amount, nowMs };
  const outcome = await grantReward(deps, tx, wish);
  return 'refusal' in outcome ? outcome : { rewardId };
}

/** Counts the activity on the brand's leaderboards and for achievements, and queues what the brand is told of a milestone. */
async function tell(
  { random }: StreakDeps,
  tx: Queries,
  { request, grounds, streak, milestone }: Recording & { streak: Streak; milestone: Milestone | undefined },
): Promise<void> {
  const { brandId, userKey, platform, streakType } = request;
  const { terms, nowMs: atMs } = grounds;
  const place = { brandId, userKey, platform, atMs, timeZone: terms.timeZone };
  await countActivity(tx, [{ ...place, activity: 1, streak: streak.current }]);
  if (platform !== undefined) await nameBoardUser(tx, { brandId, userKey, platform });
  const achievements = achievementsOf(grounds.brand.profile);
  const values = { streak_days: streak.longest };
  await unlockReached({ random }, tx, { brandId, userKey, achievements, values, nowMs: atMs });
  if (!milestone) return;
  const id = `evt_${random.uuid()}`;
  const { days: milestoneDays, bonus: bonusAmount } = milestone;
  const facts = { userEmail: emailOf(request) ?? '', milestoneDays, bonusAmount, timestamp: atMs };
  const event = {
    id,
    brandId,
    type: 'streak.milestone' as const,
    subject: subjectOf({ brandId, userKey, streakType }, milestoneDays),
    body: webhookBody({ id, event: { type: 'streak.milestone', facts } }),
    transactionId: null,
  };
  await queueWebhookEvents(tx, [event], moment(atMs));
}

const subjectOf = ({ brandId, userKey, streakType }: StreakKey, days: number) =>
  `${brandId} ${userKey} ${streakType} ${days}`;
