/** An event's rule from its settings and back. */
import { describe, expect, test } from 'vitest';
import { applyRuleSettings, conflictsOf, settingsOfRule } from '../../src/rules/brands/rule-settings.ts';
import type { Settings } from '../../src/rules/brands/settings.ts';

const brandId = `0x${'ab'.repeat(20)}` as const;
const apply = (settings: Settings, of: { eventType?: string; before?: Settings } = {}) => {
  const { eventType = 'visit', before } = of;
  const known = before && ruleOf(before);
  return applyRuleSettings({ brandId, eventType, before: known }, settings);
};
function ruleOf(settings: Settings, eventType = 'visit') {
  const applied = applyRuleSettings({ brandId, eventType, before: undefined }, settings);
  if ('problems' in applied) throw new Error(JSON.stringify(applied.problems));
  return applied.rule;
}
const problemsOf = (...of: Parameters<typeof apply>) => {
  const applied = apply(...of);
  return 'problems' in applied ? applied.problems.map(({ setting, message }) => `${setting} ${message}`) : [];
};

const dynamic = { perUsd: 2, maxReward: 50, multiplier: 'streak' };
const detection = { urlPatterns: ['/thanks*'], successSelectors: ['.done'], channels: ['#a'] };

describe('a new rule', () => {
  test('that says only its reward has defaults, and nothing that is not set', () => {
    expect(ruleOf({ reward: 5 })).toEqual({
      brandId,
      eventType: 'visit',
      active: true,
      rewardAmount: 5,
      maxClaims: 1,
      maxTotalClaims: -1,
      cooldownMs: 86_400_000,
      detail: { eventId: 'visit', isCustom: false, detectionMethod: 'manual', detectionConfig: {} },
    });
    expect(Object.keys(ruleOf({ reward: 5 }).detail)).toEqual([
      'eventId',
      'isCustom',
      'detectionMethod',
      'detectionConfig',
    ]);
  });

  test('keeps each setting in its place, and gives all back', () => {
    const settings = {
      reward: 5,
      maxClaims: 3,
      maxTotalClaims: 9,
      cooldown: '1h',
      active: 'off',
      method: 'widget',
      ...detection,
      ...dynamic,
    };
    const rule = ruleOf(settings, 'custom_dance');
    expect(rule).toEqual({
      brandId,
      eventType: 'custom_dance',
      active: false,
      rewardAmount: 5,
      maxClaims: 3,
      maxTotalClaims: 9,
      cooldownMs: 3_600_000,
      detail: {
        eventId: 'custom_dance',
        isCustom: true,
        detectionMethod: 'widget',
        detectionConfig: detection,
        dynamic,
      },
    });
    expect(settingsOfRule(rule)).toEqual({ ...settings, cooldown: 3_600_000, active: false });
  });

  test('is custom by the beginning of its type only', () => {
    expect(ruleOf({ reward: 5 }, 'my_custom_').detail.isCustom).toBe(false);
  });

  test('is noticed by its first pattern, unless it says how', () => {
    expect(ruleOf({ reward: 5, urlPatterns: '/a' }).detail.detectionMethod).toBe('url_pattern');
    expect(ruleOf({ reward: 5, urlPatterns: '/a', method: 'manual' }).detail.detectionMethod).toBe('manual');
    expect(ruleOf({ reward: 5, successSelectors: '.a' }).detail.detectionMethod).toBe('manual');
    const changed = apply({ urlPatterns: '/a' }, { before: { reward: 5, method: 'widget' } });
    expect(changed).toMatchObject({ rule: { detail: { detectionMethod: 'widget' } } });
  });
});

describe('a rule that is there', () => {
  test('changes what is given and keeps the rest', () => {
    const before = { reward: 5, maxClaims: 3, ...detection, ...dynamic };
    const changed = apply({ maxClaims: 4, multiplier: 'none', channels: 'none' }, { before });
    const { multiplier: _, ...others } = dynamic;
    const { channels: __, ...config } = detection;
    expect(changed).toMatchObject({ rule: { rewardAmount: 5, maxClaims: 4, detail: { dynamic: others } } });
    expect('rule' in changed && changed.rule.detail.detectionConfig).toEqual(config);
    const fixed = apply({ multiplier: 'none', perUsd: 'none', maxReward: 'none' }, { before });
    expect('rule' in fixed && fixed.rule.detail).not.toHaveProperty('dynamic');
  });
});

describe('what is wrong', () => {
  test.each<[Settings, string[], object?]>([
    [{}, ['reward is missing: the event has no rule yet']],
    [{ reward: 0 }, ['reward must be a whole number of RWT, 1 or more, not 0']],
    [{ reward: 5, maxReward: 9 }, ['maxReward limits perUsd, which is not set']],
    [{ reward: 5, perUsd: 1 }, ['perUsd needs maxReward, the most that one event may come to']],
    [
      { perUsd: 1, maxReward: 'none' },
      ['perUsd needs maxReward, the most that one event may come to'],
      { before: { reward: 5, ...dynamic } },
    ],
    [
      { active: 'x' },
      [
        'eventType must be 1 to 50 letters, digits and underscores',
        'active must be on or off, not "x"',
        'reward is missing: the event has no rule yet',
      ],
      { eventType: 'a-b' },
    ],
    [
      { colour: 1 },
      [expect.stringMatching(/^colour is not a setting of a rule; /)] as string[],
      { before: { reward: 5 } },
    ],
  ])('%j', (settings, expected, of = {}) => {
    expect(problemsOf(settings, of)).toEqual(expected);
  });

  test('nothing, where perUsd has its maxReward, or there is neither', () => {
    expect(conflictsOf({})).toEqual([]);
    expect(conflictsOf({ perUsd: 1, maxReward: 2 })).toEqual([]);
  });
});
