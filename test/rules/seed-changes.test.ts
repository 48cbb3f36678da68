/** What a seed file would change in a ledger, as people write settings. */
import { expect, test } from 'vitest';
import { newBrand } from '../../src/rules/brands/brand-settings.ts';
import { applyRuleSettings } from '../../src/rules/brands/rule-settings.ts';
import { type SeedChange, seedChanges } from '../../src/rules/brands/seed-changes.ts';
import type { Settings } from '../../src/rules/brands/settings.ts';

const brandId = `0x${'ab'.repeat(20)}` as const;

function seeded(settings: Settings, rules: Record<string, Settings> = {}) {
  const made = newBrand({ brandId, name: 'Shop', domains: ['shop.example'], ...settings }, 'emulator');
  if ('problems' in made) throw new Error(JSON.stringify(made.problems));
  const ruleOf = ([eventType, settings]: [string, Settings]) => {
    const applied = applyRuleSettings({ brandId, eventType, before: undefined }, { reward: 5, ...settings });
    if ('problems' in applied) throw new Error(JSON.stringify(applied.problems));
    return applied.rule;
  };
  return { brand: made.brand, rules: Object.entries(rules).map(ruleOf) };
}

const told = ({ brandId: id, brand, eventType, setting, from, to }: SeedChange) => {
  expect([id, brand]).toEqual([brandId, 'Shop']);
  return `${eventType ?? 'brand'}.${setting}: ${from} → ${to}`;
};

test('a brand that the ledger does not know is added as a whole', () => {
  expect(seedChanges(undefined, seeded({}, { visit: {} }))).toEqual([
    { brandId, brand: 'Shop', eventType: null, setting: null, from: null, to: 'added' },
  ]);
});

test('what is the same is no change; a rule that the file does not name stays', () => {
  const settings = { platforms: { telegram: '@Bot', discord: '5' }, spendPerDay: 9 };
  const known = seeded(settings, { visit: {}, buy: { perUsd: 1, maxReward: 10 } });
  expect(seedChanges(known, seeded(settings, { visit: {} }))).toEqual([]);
  const turned = { ...settings, platforms: { discord: '5', telegram: '@Bot' } };
  expect(seedChanges(known, seeded(turned, { visit: {} }))).toEqual([]);
});

test('every kind of setting is told as people write it, those of the brand first', () => {
  const known = seeded(
    {
      platforms: { telegram: '@Bot' },
      domains: ['a.example', 'b.example'],
      automation: true,
      spendPerDay: 999_999,
    },
    { visit: { cooldown: '24h', maxClaims: 'unlimited', channels: ['#a'] } },
  );
  const wanted = seeded(
    {
      platforms: { telegram: '@New' },
      domains: ['b.example', 'a.example'],
      automation: false,
      spendPerHour: 7,
    },
    { visit: { cooldown: '0', maxClaims: 3, active: false, multiplier: 'streak' }, dance: {} },
  );
  expect(seedChanges(known, wanted).map(told)).toEqual([
    'brand.automation: on → off',
    'brand.domains: a.example,b.example → b.example,a.example',
    'brand.platforms: {"telegram":"@Bot"} → {"telegram":"@New"}',
    'brand.spendPerHour: null → 7',
    'brand.spendPerDay: 999999 → null',
    'visit.maxClaims: unlimited → 3',
    'visit.cooldown: 1d → 0',
    'visit.active: on → off',
    'visit.channels: #a → null',
    'visit.multiplier: null → streak',
    'dance.null: null → added',
  ]);
  expect(seedChanges(wanted, known).map(told)).toContain('visit.cooldown: 0 → 1d');
});
