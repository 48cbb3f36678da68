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
  /** What the event is paid once for, where its rule says so, and the reward that the user has for it. */
  once?: (Once & { claim: { rewardId: string; amount: number; claimedAt: number } | undefined }) | undefined;
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
  | ({ code: 'already_rewarded'; previousReward: PreviousReward } & Once)
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
  const { counter, totalClaims, availableFunds, spending = [], once } = state;
  if (once?.claim) return alreadyRewarded(once, once.claim);
  if (counter && counter.claims > 0) {
    const windowEndsMs = counter.lastAt + duplicateWindowMs;
    // What is paid once for a thing compares that in place of the time: two orders in a minute are two.
    if (!once && nowMs < windowEndsMs) {
      return { code: 'duplicate', existingEventId: counter.lastRewardId, passesAtMs: windowEndsMs };
    }
    const cooldownEndsMs = counter.lastAt + rule.cooldownMs;
    const isWaiting = rule.cooldownMs > 0 || !once;
    if (!bypass.cooldown && isWaiting && nowMs < cooldownEndsMs) {
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

const alreadyRewarded = (
  { field, value }: Once,
  claim: { rewardId: string; amount: number; claimedAt: number },
): ClaimRefusal => ({
  code: 'already_rewarded',
  field,
  value,
  previousReward: { eventId: claim.rewardId, rewardAmount: claim.amount, timestamp: claim.claimedAt },
});

/** The same decision as terms that a database row can be compared with: a maximum of claims and a latest time for the last one. */
export function claimTerms({
  rule,
  bypass,
  nowMs,
  duplicateWindowMs,
  isOncePer = false,
}: Omit<ClaimQuestion, 'state' | 'amount'> & {
  /** Whether the event is paid once for a thing: then only a cooldown makes the next one wait. */
  isOncePer?: boolean;
}) {
  const cooldownMs = bypass.cooldown ? 0 : rule.cooldownMs;
  const waitMs = isOncePer ? cooldownMs : Math.max(duplicateWindowMs, cooldownMs);
  return {
    claimsBelow: bypass.maxClaims || isUnlimited(rule.maxClaims) ? Number.MAX_SAFE_INTEGER : rule.maxClaims,
    lastAtMost: isOncePer && waitMs === 0 ? Number.MAX_SAFE_INTEGER : nowMs - waitMs,
  };
}

// What an event is paid once for: the value of a field of its metadata that the rule names (`oncePer`), such as an
// order's id.

/** The thing that is paid once for each user, for ever. */
export interface Once {
  /** The field of the metadata, such as `order_id`. */
  field: string;
  /** Its value as text: the number 17 and the text "17" are the same order. */
  value: string;
}

/** Longer than the ids of shops and platforms are; the value is part of a key of the database. */
const ONCE_VALUE_MAX = 200;

/** The value of the field, or what is wrong with it; `missing` where the event does not have the field at all. */
export function onceOf(
  field: string,
  metadata: Record<string, unknown>,
): { once: Once } | { problem: string; missing: boolean } {
  const sent = Object.hasOwn(metadata, field) ? metadata[field] : undefined;
  const value = typeof sent === 'number' ? String(sent) : sent;
  const refused = (problem: string, missing = false) => ({
    problem: `metadata.${field}: ${problem}`,
    missing,
  });
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === ''))
    return refused(`is required: the event is paid once for each ${field}`, sent === undefined);
  if (typeof value !== 'string') return refused('must be a text or a number');
  // Ids of tweets are larger: as numbers, two neighbours would have arrived as one.
  if (typeof sent === 'number' && Number.isInteger(sent) && !Number.isSafeInteger(sent))
    return refused('is too large to be exact as a number: send it as a text');
  const text = value.trim().normalize('NFC');
  if (text.length > ONCE_VALUE_MAX) return refused(`must have at most ${ONCE_VALUE_MAX} characters`);
  return { once: { field, value: text } };
}
