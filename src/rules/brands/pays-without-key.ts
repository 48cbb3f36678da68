/** What a brand pays, or lets be spent, for callers who send no key: each way, how much, and the setting that closes it. */

import type { Brand, BrandProfile, EventRule } from './brand.ts';
import { checkInBase } from './check-in-events.ts';
import { defaultsOf } from './settings.ts';
import { brandSpec } from './spec.ts';

export interface KeylessPayment {
  /** `redemptions` pay no reward: they debit users, by no more than the brand has paid them. */
  pays: 'events' | 'check-ins' | 'milestones' | 'redemptions';
  /** Which users get how much, as a sentence without a full stop. */
  text: string;
  /** The setting that asks for the brand's key, or pays nothing. */
  closedBy: string;
}

type Asked = { brand: Pick<Brand, 'automation' | 'profile'>; rules: readonly EventRule[] };

/** Each way to money that a brand leaves open, whatever can be earned by it. */
const ways: readonly ((of: Asked) => KeylessPayment[])[] = [byEvents, byCheckIns, byMilestones];

/** The ways in which strangers are paid by this brand, in a fixed order. Without automation only perks can be redeemed. */
export const paysWithoutKey = (of: Asked): KeylessPayment[] => [
  ...(of.brand.automation ? ways.flatMap((way) => way(of)) : []),
  ...byRedemptions(of),
];

/** Whether a spend limit bounds any of these. What redemptions debit is bounded by what was paid before. */
export const areBoundedBySpending = (payments: readonly { pays: string }[]): boolean =>
  payments.some(({ pays }) => pays !== 'redemptions');

/** More events than these are counted, not named. */
const NAMED_MAX = 5;

function byEvents({ brand, rules }: Asked): KeylessPayment[] {
  const active = rules.filter((rule) => rule.active);
  if (brand.profile.clientEvents === 'credential' || active.length === 0) return [];
  const named = active.slice(0, NAMED_MAX).map((rule) => `${rule.eventType} (${worthText(brand, rule)})`);
  const more = active.length > NAMED_MAX ? ` and ${active.length - NAMED_MAX} more` : '';
  const bypass = brand.profile.clientBypass === 'allow' ? '; anybody may skip the cooldown' : '';
  const text = `${callersOf(brand)}: ${named.join(', ')}${more}${bypass}`;
  return [{ pays: 'events', text, closedBy: 'clientEvents=credential' }];
}

function byCheckIns({ brand }: Asked): KeylessPayment[] {
  const terms = openTerms(brand);
  if (!terms || terms.streakBase === 0) return [];
  const most = Math.max(1, ...Object.values(terms.streakMultipliers));
  const text = `${callersOf(brand)}: ${terms.streakBase} RWT a day, times up to ${most} (streakPays is service)`;
  return [{ pays: 'check-ins', text, closedBy: CLOSED_STREAKS }];
}

function byMilestones({ brand }: Asked): KeylessPayment[] {
  const steps = Object.entries(openTerms(brand)?.streakMilestones ?? {});
  if (steps.length === 0) return [];
  const bonuses = steps.map(([days, bonus]) => `${bonus} RWT after ${days} days`).join(', ');
  const text = `${callersOf(brand)}: ${bonuses} (streakPays is service)`;
  return [{ pays: 'milestones', text, closedBy: CLOSED_STREAKS }];
}

function byRedemptions({ brand }: Asked): KeylessPayment[] {
  // A brand from before the setting asks for its key.
  if (brand.profile.redemptions !== 'open') return [];
  const text =
    'anybody who names a user: perks, paid with what the brand has paid that user and they have not spent, never more';
  return [{ pays: 'redemptions', text, closedBy: 'redemptions=key, or redemptions=token' }];
}

const CLOSED_STREAKS = 'streakPays=off, or clientEvents=credential';

type StreakTerms = Required<
  Pick<BrandProfile, 'streakPays' | 'streakBase' | 'streakMultipliers' | 'streakMilestones'>
>;
const usual = defaultsOf(brandSpec, 'earlier') as StreakTerms;

/** The terms of streaks that the service itself pays strangers for; undefined where it does not. */
function openTerms({ profile }: Pick<Brand, 'profile'>): StreakTerms | undefined {
  const terms = { ...usual, ...profile };
  return terms.streakPays === 'service' && profile.clientEvents !== 'credential' ? terms : undefined;
}

/** Which users are paid: a domain is only a field that every caller can write. */
function callersOf({ profile }: Pick<Brand, 'profile'>): string {
  const { directAddresses, domainless, domains } = profile;
  const user = directAddresses === 'credential' ? 'any e-mail' : 'any e-mail or address';
  return domainless === 'allow' ? user : `${user}, from callers that name ${domains.join(' or ')}`;
}

/** What one claim of the event comes to at most. */
function worthText(
  { profile }: Pick<Brand, 'profile'>,
  { eventType, rewardAmount, detail }: EventRule,
): string {
  const base = checkInBase(profile, eventType);
  if (base !== undefined) return `${base} RWT times the streak`;
  const { maxReward, multiplier } = detail.dynamic ?? {};
  const believed = profile.clientAmounts !== 'credential' && maxReward !== undefined;
  const amount = believed ? `up to ${Math.max(maxReward, rewardAmount)} RWT` : `${rewardAmount} RWT`;
  return multiplier === 'streak' ? `${amount} times the streak` : amount;
}
