/** How much an event pays: a fixed amount, or one that grows with an order's total or a user's streak. */
import type { Brand, BrandProfile, EventRule } from '../brands/brand.ts';
import { type CheckInSettings, checkInBase } from '../brands/check-in-events.ts';
import { decimal, multiplied, REWARD_MAX } from '../decimal.ts';
import type { ClaimState } from './claim-policy.ts';
import type { EventSubmission } from './submission.ts';

/** What a rule says of a reward that grows. */
interface Dynamic {
  detail: Pick<EventRule['detail'], 'dynamic'>;
}

/** What a reward is worked out from. */
export interface EventWorth {
  metadata: Record<string, unknown>;
  /** Whether the sender's `order_total` is believed. */
  amountsCount: boolean;
  /** Counts only for events that are paid by streak. */
  streakMultiplier: number;
  /** RWT of a check-in, where this event pays for one: in place of the rule's reward. */
  checkInBase?: number | undefined;
}

/** What an event is worth by the brand's settings and what the ledger holds; `submission` and `brand` where they are known. */
export const worthOf = (
  { eventType }: Pick<EventRule, 'eventType'>,
  of: {
    submission: Pick<EventSubmission, 'metadata' | 'withBrandKey'> | undefined;
    brand: { profile: Pick<BrandProfile, 'clientAmounts'> & CheckInSettings } | undefined;
    state: Pick<ClaimState, 'streakMultiplier'>;
  },
): EventWorth => ({
  metadata: of.submission?.metadata ?? {},
  amountsCount: !of.submission || !of.brand || amountsCount(of.submission, of.brand),
  streakMultiplier: of.state.streakMultiplier ?? 1,
  checkInBase: of.brand && checkInBase(of.brand.profile, eventType),
});

/** Whether the user's streak decides what an event of this rule earns. */
export const paysByStreak = (
  { detail, eventType }: Pick<EventRule, 'detail' | 'eventType'>,
  { profile }: Pick<Brand, 'profile'>,
): boolean => detail.dynamic?.multiplier === 'streak' || checkInBase(profile, eventType) !== undefined;

/** Whether the brand believes the amounts in this event: those of its own servers always, of others where it says so. */
export const amountsCount = (
  { withBrandKey }: { withBrandKey: boolean },
  { profile }: { profile: Pick<BrandProfile, 'clientAmounts'> },
): boolean => withBrandKey || profile.clientAmounts !== 'credential';

/**
 * Whole RWT, rounded down. For a check-in what the brand's settings say; else the rule's own reward, unless its `perUsd` makes at least 1 RWT of an `order_total` that
 * counts; then that, and never more than `maxReward`.
 */
export function rewardAmount(rule: Pick<EventRule, 'rewardAmount'> & Dynamic, event: EventWorth): number {
  if (event.checkInBase !== undefined) return multiplied(event.checkInBase, event.streakMultiplier);
  const base = ofOrder(rule, event) ?? rule.rewardAmount;
  const { multiplier } = rule.detail.dynamic ?? {};
  return Math.min(multiplier === 'streak' ? multiplied(base, event.streakMultiplier) : base, REWARD_MAX);
}

/** A rule that pays for each dollar without an end, as rules could before `perUsd` needed a `maxReward`. */
export const paysWithoutEnd = ({ detail }: Dynamic): boolean =>
  detail.dynamic?.perUsd !== undefined && detail.dynamic.maxReward === undefined;

/** What the order's total comes to; undefined where it does not count, is not an amount, or makes less than 1 RWT. */
function ofOrder({ detail }: Dynamic, { metadata, amountsCount }: EventWorth): number | undefined {
  const { perUsd, maxReward } = detail.dynamic ?? {};
  // The total is only a number that the sender wrote: without a `maxReward` it counts for nothing.
  if (!amountsCount || maxReward === undefined) return undefined;
  const usd = decimal(Object.hasOwn(metadata, 'order_total') ? metadata.order_total : undefined);
  const rate = decimal(perUsd);
  if (!usd || !rate) return undefined;
  const amount = (usd.units * rate.units) / (usd.perUnit * rate.perUnit);
  if (amount < 1n) return undefined;
  return Math.min(Number(amount), maxReward);
}
