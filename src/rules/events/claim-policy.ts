/** Whether a user may claim an event now: duplicate, cooldown, limits, spending, funds, in that order (contract: Limits). */
import { type EventRule, isUnlimited } from '../brands/brand.ts';
import { refuseSpending, type SpendRefusal, type SpendWindow } from './spend-limit.ts';

/** What a claim is judged against. */
export interface ClaimState {
  /** The user's earlier grants of this event. */
  counter?: { claims: number; lastAt: number; lastRewardId: string; lastAmount: number } | undefined;
  /** Grants of this event to all users. */
  totalClaims: number;
  /** RWT in the brand's escrow that is not promised yet. */
  availableFunds: number;
  /** The brand's spend limits, where it has any. */
  spending?: readonly SpendWindow[] | undefined;
  /** What the user's streak multiplies the reward by; only where the event is paid by streak. */
  streakMultiplier?: number | undefined;
}

/** Which limits the event's source may pass over (contract: Cooldown bypass). The total is never passed over. */
export interface Bypass {
  cooldown: boolean;
  maxClaims: boolean;
}

export type ClaimRefusal =
  | { code: 'duplicate'; existingEventId: string; passesAtMs: number }
  | {
      code: 'cooldown';
      cooldownMs: number;
      remainingMs: number;
      passesAtMs: number;
      previousReward: PreviousReward;
    }
  | { code: 'max_claims_reached'; totalClaims: number; maxClaims: number }
  | { code: 'max_total_claims_reached'; totalClaims: number; maxTotalClaims: number }
  | SpendRefusal
  | { code: 'insufficient_brand_balance'; available: number; required: number };

interface PreviousReward {
  eventId: string;
  rewardAmount: number;
  /** Milliseconds since 1970. */
  timestamp: number;
}

export interface ClaimQuestion {
  rule: Pick<EventRule, 'cooldownMs' | 'maxClaims' | 'maxTotalClaims'>;
  state: ClaimState;
  bypass: Bypass;
  amount: number;
  nowMs: number;
  duplicateWindowMs: number;
}

/** The first reason against the claim, or undefined when it may be granted. */
export function refuseClaim({
  rule,
  state,
  bypass,
  amount,
  nowMs,
  duplicateWindowMs,
}: ClaimQuestion): ClaimRefusal | undefined {
  const { counter, totalClaims, availableFunds, spending = [] } = state;
  if (counter && counter.claims > 0) {
    const windowEndsMs = counter.lastAt + duplicateWindowMs;
    if (nowMs < windowEndsMs) {
      return { code: 'duplicate', existingEventId: counter.lastRewardId, passesAtMs: windowEndsMs };
    }
    const cooldownEndsMs = counter.lastAt + rule.cooldownMs;
    if (!bypass.cooldown && nowMs < cooldownEndsMs) {
      return {
        code: 'cooldown',
        cooldownMs: rule.cooldownMs,
        remainingMs: cooldownEndsMs - nowMs,
        passesAtMs: cooldownEndsMs,
        previousReward: {
          eventId: counter.lastRewardId,
          rewardAmount: counter.lastAmount,
          timestamp: counter.lastAt,
        },
      };
    }
  }
  const claims = counter?.claims ?? 0;
  if (!bypass.maxClaims && !isUnlimited(rule.maxClaims) && claims >= rule.maxClaims) {
    return { code: 'max_claims_reached', totalClaims: claims, maxClaims: rule.maxClaims };
  }
  if (!isUnlimited(rule.maxTotalClaims) && totalClaims >= rule.maxTotalClaims) {
    return { code: 'max_total_claims_reached', totalClaims, maxTotalClaims: rule.maxTotalClaims };
  }
  const overspent = refuseSpending(spending, { amount, nowMs });
  if (overspent) return overspent;
  if (availableFunds < amount)
    return { code: 'insufficient_brand_balance', available: availableFunds, required: amount };
  return undefined;
}

/** The same decision as terms that a database row can be compared with: a maximum of claims and a latest time for the last one. */
export function claimTerms({
  rule,
  bypass,
  nowMs,
  duplicateWindowMs,
}: Omit<ClaimQuestion, 'state' | 'amount'>) {
  const waitMs = Math.max(duplicateWindowMs, bypass.cooldown ? 0 : rule.cooldownMs);
  return {
    claimsBelow: bypass.maxClaims || isUnlimited(rule.maxClaims) ? Number.MAX_SAFE_INTEGER : rule.maxClaims,
    lastAtMost: nowMs - waitMs,
  };
}
