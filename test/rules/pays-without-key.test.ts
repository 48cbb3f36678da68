/** What a brand pays to callers without its key: read from its settings and rules, for `brand show` and `doctor`. */
import { describe, expect, test } from 'vitest';
import { lookAtKeyless } from '../../src/production/doctor/doctor.ts';
import type { Brand } from '../../src/rules/brands/brand.ts';
import { newBrand } from '../../src/rules/brands/brand-settings.ts';
import { paysWithoutKey } from '../../src/rules/brands/pays-without-key.ts';
import { applyRuleSettings } from '../../src/rules/brands/rule-settings.ts';
import type { Settings } from '../../src/rules/brands/settings.ts';

const brandId = '0x00000000000000000000000000000000000000aa';
const brandOf = (settings: Settings = {}, where: 'emulator' | 'production' = 'production'): Brand => {
  const made = newBrand({ brandId, name: 'Shop', domains: 'shop.example', ...settings }, where);
  if ('problems' in made) throw new Error(JSON.stringify(made.problems));
  return made.brand;
};
const ruleOf = (eventType: string, settings: Settings) => {
  const made = applyRuleSettings({ brandId, eventType, before: undefined }, settings);
  if ('problems' in made) throw new Error(JSON.stringify(made.problems));
  return made.rule;
};
const signUp = ruleOf('account_creation', { reward: 100 });
const waysOf = (brand: Brand, rules = [signUp]) => paysWithoutKey({ brand, rules }).map(({ pays }) => pays);

describe('pays without a key', () => {
  test('a new brand in production: its events, to any e-mail whose caller names its domain; no streaks', () => {
    expect(paysWithoutKey({ brand: brandOf(), rules: [signUp] })).toEqual([
      {
        pays: 'events',
        text: 'any e-mail, from callers that name shop.example: account_creation (100 RWT)',
        closedBy: 'clientEvents=credential',
      },
    ]);
    expect(paysWithoutKey({ brand: brandOf(), rules: [] })).toEqual([]);
    expect(waysOf(brandOf(), [ruleOf('asleep', { reward: 1, active: 'off' })])).toEqual([]);
    expect(waysOf(brandOf({ clientEvents: 'credential' }))).toEqual([]);
    expect(waysOf(brandOf({ automation: 'off', streakPays: 'service' }))).toEqual([]);
  });

  test('streaks: where the service pays them, and of a brand from before that could be said', () => {
    expect(waysOf(brandOf({ streakPays: 'service' }), [])).toEqual(['check-ins', 'milestones']);
    expect(waysOf(brandOf({ streakPays: 'event' }), [])).toEqual([]);
    expect(waysOf(brandOf({ streakPays: 'service', clientEvents: 'credential' }), [])).toEqual([]);
    expect(waysOf(brandOf({ streakPays: 'service', streakBase: 0 }), [])).toEqual(['milestones']);
    const { profile, ...brand } = brandOf();
    const { streakPays: _, ...earlier } = profile;
    expect(waysOf({ ...brand, profile: earlier }, [])).toEqual(['check-ins', 'milestones']);
  });

  test('redemptions that anybody may ask for: they debit, and need no automation', () => {
    const open = brandOf({ redemptions: 'open', clientEvents: 'credential' });
    expect(paysWithoutKey({ brand: open, rules: [signUp] })).toEqual([
      {
        pays: 'redemptions',
        text: expect.stringMatching(
          /^anybody who names a user: .* has paid that user and they have not spent/,
        ),
        closedBy: 'redemptions=key, or redemptions=token',
      },
    ]);
    expect(waysOf(brandOf({ redemptions: 'open' }))).toEqual(['events', 'redemptions']);
    expect(waysOf(brandOf({ redemptions: 'open', automation: 'off' }))).toEqual(['redemptions']);
    expect(waysOf(brandOf({ redemptions: 'token', clientEvents: 'credential' }))).toEqual([]);
    const { redemptions: _, ...earlier } = open.profile;
    expect(waysOf({ ...open, profile: earlier })).toEqual([]);
  });

  test('texts have what one claim comes to: believed amounts, check-ins, streaks, many events', () => {
    const loose = { domainless: 'allow', directAddresses: 'allow', clientAmounts: 'allow' };
    const rules = [
      ruleOf('purchase', { reward: 1, perUsd: 1, maxReward: 500 }),
      ruleOf('daily', { reward: 3, multiplier: 'streak' }),
      ruleOf('visit', { reward: 3 }),
      ...['a', 'b', 'c', 'd'].map((type) => ruleOf(type, { reward: 1 })),
    ];
    const streaks = { streakPays: 'event', streakCheckInEvents: 'visit', clientBypass: 'allow' };
    expect(paysWithoutKey({ brand: brandOf({ ...loose, ...streaks }), rules })[0]?.text).toBe(
      'any e-mail or address: purchase (up to 500 RWT), daily (3 RWT times the streak), visit (10 RWT times the streak), a (1 RWT), b (1 RWT) and 2 more; anybody may skip the cooldown',
    );
    expect(paysWithoutKey({ brand: brandOf(), rules })[0]?.text).toContain('purchase (1 RWT)');
  });
});

describe('doctor', () => {
  test('tells of each brand, and has a problem with one that nothing limits', () => {
    const limited = lookAtKeyless([{ brand: brandOf(), rules: [signUp] }]);
    expect(limited).toEqual([
      {
        check: 'keyless',
        message: expect.stringMatching(
          /^Shop pays without a key, at most 1000 RWT in an hour: events to any/,
        ),
      },
    ]);
    const [open] = lookAtKeyless([{ brand: brandOf({ spendPerHour: 'none' }), rules: [signUp] }]);
    expect(open).toMatchObject({
      message: expect.stringContaining('without a spend limit'),
      fix: expect.stringContaining(`rewards brand set ${brandId} spendPerHour=1000`),
    });
    const redeemed = brandOf({ redemptions: 'open', clientEvents: 'credential', spendPerHour: 'none' });
    const [spent] = lookAtKeyless([{ brand: redeemed, rules: [signUp] }]);
    expect(spent).toEqual({
      check: 'keyless',
      message: expect.stringMatching(/only what it has paid its users before: redemptions to anybody/),
    });
    expect(lookAtKeyless([{ brand: brandOf(), rules: [] }])).toEqual([
      { check: 'keyless', message: 'no brand pays callers without its key' },
    ]);
  });
});
