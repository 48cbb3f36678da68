/** What may be set about an event's rule, with the same bounds and defaults as in a fixture. */
import { type BrandId, type EventDetail, type EventRule, UNLIMITED } from './brand.ts';
import {
  above0,
  claimLimit,
  durationText,
  listOrNothing,
  oneOf,
  onOrOff,
  orNothing,
  type Read,
  type Reader,
  type SettingProblem,
  type Settings,
  shown,
  textUpTo,
  wholeFrom,
} from './settings.ts';

type Change = (rule: EventRule) => EventRule;

const DAY_MS = 86_400_000;
const EVENT_TYPE = /^[A-Za-z0-9_]{1,50}$/;

const change =
  <T>(read: Reader<T>, apply: (rule: EventRule, value: T) => EventRule) =>
  (given: unknown): Read<Change> => {
    const got = read(given);
    return 'expected' in got ? got : { value: (rule) => apply(rule, got.value) };
  };
const field = <N extends keyof EventRule>(name: N, read: Reader<EventRule[N]>) =>
  change(read, (rule, value) => ({ ...rule, [name]: value }));
const inDetail = <T>(read: Reader<T>, apply: (detail: EventDetail, value: T) => EventDetail) =>
  change(read, (rule, value) => ({ ...rule, detail: apply(rule.detail, value) }));
const detected = (name: keyof EventDetail['detectionConfig'], read: Reader<string[]>) =>
  inDetail(read, (detail, list) => {
    const { [name]: _, ...rest } = detail.detectionConfig;
    return { ...detail, detectionConfig: list.length > 0 ? { ...rest, [name]: list } : rest };
  });
const dynamic = <T>(name: string, read: Reader<T | undefined>) =>
  inDetail(read, ({ dynamic: before, ...detail }, value) => {
    const { [name]: _, ...rest } = { ...before } as Record<string, unknown>;
    const after = value === undefined ? rest : { ...rest, [name]: value };
    return Object.keys(after).length > 0 ? { ...detail, dynamic: after } : detail;
  });

const known: Record<string, (given: unknown) => Read<Change>> = {
  reward: field('rewardAmount', wholeFrom(1, 'RWT')),
  maxClaims: field('maxClaims', claimLimit),
  maxTotalClaims: field('maxTotalClaims', claimLimit),
  cooldown: field('cooldownMs', durationText),
  active: field('active', onOrOff),
  channels: detected('channels', listOrNothing(textUpTo(100))),
  urlPatterns: detected('urlPatterns', listOrNothing(textUpTo(2048))),
  successSelectors: detected('successSelectors', listOrNothing(textUpTo(2048))),
  method: inDetail(textUpTo(50), (detail, detectionMethod) => ({ ...detail, detectionMethod })),
  perUsd: dynamic('perUsd', orNothing(above0)),
  maxReward: dynamic('maxReward', orNothing(wholeFrom(1, 'RWT'))),
  multiplier: dynamic('multiplier', orNothing(oneOf(['streak']))),
};

export const ruleSettings = Object.keys(known);

/** A brand's rule for an event: `before` with the settings applied, or a new one, which must say its reward. */
export function applyRuleSettings(
  of: { brandId: BrandId; eventType: string; before: EventRule | undefined },
  settings: Settings,
): { rule: EventRule } | { problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  let rule = of.before ?? blankRule(of);
  for (const [setting, given] of Object.entries(settings)) {
    const read = Object.hasOwn(known, setting) ? known[setting]?.(given) : undefined;
    if (!read) {
      problems.push({ setting, message: `is no setting of a rule; there are ${ruleSettings.join(', ')}` });
    } else if ('expected' in read) {
      problems.push({ setting, message: `${read.expected}, not ${shown(given)}` });
    } else {
      rule = read.value(rule);
    }
  }
  if (!EVENT_TYPE.test(of.eventType)) {
    problems.unshift({ setting: 'eventType', message: 'must be 1 to 50 letters, digits and underscores' });
  }
  if (!of.before && settings.reward === undefined) {
    problems.push({ setting: 'reward', message: 'is missing: the event has no rule yet' });
  }
  const { perUsd, maxReward } = rule.detail.dynamic ?? {};
  if (maxReward !== undefined && perUsd === undefined) {
    problems.push({ setting: 'maxReward', message: 'limits perUsd, which is not set' });
  }
  return problems.length > 0 ? { problems } : { rule: withMethod(rule, settings) };
}

/** An event that gets its first pattern is noticed by it from now on, unless something else was said. */
function withMethod(rule: EventRule, settings: Settings): EventRule {
  const { detectionMethod, detectionConfig } = rule.detail;
  const byPattern =
    settings.method === undefined && detectionMethod === 'manual' && detectionConfig.urlPatterns;
  return byPattern ? { ...rule, detail: { ...rule.detail, detectionMethod: 'url_pattern' } } : rule;
}

const blankRule = ({ brandId, eventType }: { brandId: BrandId; eventType: string }): EventRule => ({
  brandId,
  eventType,
  active: true,
  rewardAmount: 0,
  maxClaims: 1,
  maxTotalClaims: UNLIMITED,
  cooldownMs: DAY_MS,
  detail: {
    eventId: eventType,
    isCustom: eventType.startsWith('custom_'),
    detectionMethod: 'manual',
    detectionConfig: {},
  },
});
