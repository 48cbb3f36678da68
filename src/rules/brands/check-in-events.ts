/** The events that clients send for a check-in, and that nothing pays for a check-in twice. */
import type { BrandProfile } from './brand.ts';
import type { SettingProblem, Settings } from './settings.ts';
import { brandSpec } from './spec.ts';

export type CheckInSettings = Pick<BrandProfile, 'streakPays' | 'streakCheckInEvents' | 'streakBase'>;
const STREAK_BASE = brandSpec.streakBase.default;

/** Those of the event types with an active rule that would pay for a check-in which the service pays for too. */
export function alsoPaying(
  { streakPays = 'service', streakCheckInEvents = [] }: CheckInSettings,
  payingTypes: Iterable<string>,
): string[] {
  if (streakPays !== 'service') return [];
  return [...payingTypes].filter((type) => streakCheckInEvents.includes(type));
}

/** RWT of a check-in, before the multiplier, where an event of this type pays for it in place of its rule's reward. */
export const checkInBase = (
  { streakPays, streakCheckInEvents = [], streakBase = STREAK_BASE }: CheckInSettings,
  eventType: string,
): number | undefined =>
  streakPays === 'event' && streakCheckInEvents.includes(eventType) ? streakBase : undefined;

/** What is wrong with a brand's settings, given the event types of its active rules. */
export const paidTwice = (settings: CheckInSettings, payingTypes: Iterable<string>): SettingProblem[] =>
  alsoPaying(settings, payingTypes).map((type) => ({
    setting: 'streakPays',
    message: `is service, but the rule of ${type} would pay for the same check-in again: set streakPays to event, turn the rule off, or take ${type} out of streakCheckInEvents`,
  }));

/** Names under which public clients send what a streak pays for too. */
const LIKE_A_CHECK_IN = /_(?:daily_checkin|check_in|milestone_claim)$/;

/** Warnings about active rules whose names say that they pay for what the service pays for already. */
export function maybePaidTwice(
  { streakPays = 'service' }: CheckInSettings,
  rules: Iterable<{ eventType: string; active: boolean }>,
): string[] {
  if (streakPays !== 'service') return [];
  return [...rules].flatMap(({ eventType, active }) =>
    active && LIKE_A_CHECK_IN.test(eventType)
      ? `the service pays for check-ins and milestones, and the rule of ${eventType} may pay for the same ones again: set streakPays=event and streakCheckInEvents, or turn the rule off`
      : [],
  );
}

/** Whether a change of settings can make the service and a rule pay for the same check-in. */
export const changesWhoPays = (settings: Settings): boolean =>
  Object.keys(settings).some((name) => /^streak\.?(?:pays|checkInEvents)$/i.test(name));

/** Why a rule may not be active under this event type; undefined where it may. */
export function refuseRule(
  settings: CheckInSettings,
  rule: { eventType: string; active: boolean },
): SettingProblem | undefined {
  const [type] = alsoPaying(settings, rule.active ? [rule.eventType] : []);
  return type === undefined
    ? undefined
    : {
        setting: 'eventType',
        message: `is one of the brand's streakCheckInEvents, and the service pays for its check-ins: this rule would pay a second time; set the brand's streakPays to event first`,
      };
}
