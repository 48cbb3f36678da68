/** An event's rule and its settings: the ledger keeps some of them in columns, all others in the rule's detail. */
import { isGrantType } from '../grant-types.ts';
import type { BrandId, EventRule } from './brand.ts';
import {
  defaultsOf,
  EVENT_TYPE,
  given,
  readSettings,
  type SettingProblem,
  type Settings,
} from './settings.ts';
import { ruleSpec, type Values } from './spec.ts';

/** The settings of one rule, by name. */
export type RuleSettings = Values<typeof ruleSpec>;

export function settingsOfRule(rule: EventRule): RuleSettings {
  const { eventId: _, isCustom: __, detectionMethod, detectionConfig, dynamic, ...others } = rule.detail;
  return {
    reward: rule.rewardAmount,
    maxClaims: rule.maxClaims,
    maxTotalClaims: rule.maxTotalClaims,
    cooldown: rule.cooldownMs,
    active: rule.active,
    method: detectionMethod,
    ...detectionConfig,
    ...dynamic,
    ...others,
  };
}

export function ruleWith(of: { brandId: BrandId; eventType: string }, settings: RuleSettings): EventRule {
  const { reward, maxClaims, maxTotalClaims, cooldown, active, ...detail } = settings;
  const { method, urlPatterns, successSelectors, channels, perUsd, maxReward, multiplier, ...others } =
    detail;
  const { brandId, eventType } = of;
  const dynamic = given({ perUsd, maxReward, multiplier });
  return {
    brandId,
    eventType,
    active,
    rewardAmount: reward,
    maxClaims,
    maxTotalClaims,
    cooldownMs: cooldown,
    detail: {
      eventId: eventType,
      isCustom: eventType.startsWith('custom_'),
      detectionMethod: method,
      detectionConfig: given({ urlPatterns, successSelectors, channels }),
      ...(Object.keys(dynamic).length > 0 && { dynamic }),
      ...given(others),
    },
  };
}

/** A brand's rule for an event: `before` with the settings applied, or a new rule, for which the reward is required. */
export function applyRuleSettings(
  of: { brandId: BrandId; eventType: string; before: EventRule | undefined },
  settings: Settings,
): { rule: EventRule } | { problems: SettingProblem[] } {
  const before = of.before ? settingsOfRule(of.before) : defaultsOf(ruleSpec);
  const { values, problems } = readSettings({ spec: ruleSpec, of: 'rule' }, before, settings);
  if (!EVENT_TYPE.test(of.eventType)) {
    problems.unshift({ setting: 'eventType', message: 'must be 1 to 50 letters, digits and underscores' });
  }
  if (isGrantType(of.eventType)) problems.unshift({ setting: 'eventType', message: RESERVED });
  if (!of.before && settings.reward === undefined) {
    problems.push({ setting: 'reward', message: 'is missing: the event has no rule yet' });
  }
  problems.push(...conflictsOf(values));
  if (problems.length > 0) return { problems };
  return { rule: ruleWith(of, withMethod(values as RuleSettings, settings)) };
}

/** Why no rule may have the type of a reward that the service grants by itself. */
export const RESERVED =
  'is the type of a reward that the service itself grants for streaks: give the event another name';

/** Problems between settings that are each valid alone. */
export function conflictsOf({ perUsd, maxReward }: Partial<RuleSettings>): SettingProblem[] {
  if (maxReward !== undefined && perUsd === undefined)
    return [{ setting: 'maxReward', message: 'limits perUsd, which is not set' }];
  // The sender writes the order's total: without a limit, one event could take all that the brand has.
  if (perUsd !== undefined && maxReward === undefined)
    return [{ setting: 'perUsd', message: 'needs maxReward, the most that one event may come to' }];
  return [];
}

/** A rule that gets its first pattern detects by that pattern from now on, unless `method` was set as well. */
function withMethod(rule: RuleSettings, settings: Settings): RuleSettings {
  const byPattern = settings.method === undefined && rule.method === 'manual' && rule.urlPatterns;
  return byPattern ? { ...rule, method: 'url_pattern' } : rule;
}
