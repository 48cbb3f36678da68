import { readFile, writeFile } from 'node:fs/promises';
import { mnemonicToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import {
  type Fixture,
  loadFixture,
  packagedFixture,
  parseFixture,
} from '../../src/emulator/fixture/fixture.ts';
import { fixtureJsonSchema } from '../../src/emulator/fixture/fixture-schema.ts';
import { streakTerms } from '../../src/rules/engagement/streak.ts';
import { defaultEvents } from '../../src/site/plugin/plugin-settings.ts';

const HOUR_MS = 3_600_000;
const demo: Fixture = await loadFixture([packagedFixture('demo')]);
const [brand] = demo.brands;

/** contract: Event types, both tables; of a range its lower end. */
const contractRewards: [eventType: string, reward: number][] = [
  ['account_creation', 100],
  ['complete_survey', 75],
  ['newsletter_subscribe', 25],
  ['rate_experience', 50],
  ['subscribe_renewal', 200],
  ['form_submit', 10],
  ['account_creation', 100],
  ['email_verification', 50],
  ['first_purchase', 200],
  ['purchase', 1],
  ['referral', 500],
  ['review_submission', 50],
  ['newsletter_signup', 25],
  ['profile_completion', 100],
];

const ruleOf = (eventType: string) => {
  const rule = brand?.rules.find((one) => one.eventType === eventType);
  if (!rule) throw new Error(`the demo has no ${eventType}`);
  return rule;
};

describe('the demo fixture', () => {
  test('is one brand at demo.example, with a million RWT in escrow', () => {
    expect(demo.brands).toHaveLength(1);
    expect(brand).toMatchObject({
      brand: {
        brandId: '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
        automation: true,
        profile: { domains: ['demo.example'], clientBypass: 'allow', mintTo: 'wallet' },
      },
      escrow: 1_000_000,
      webhook: { inbox: true },
    });
  });

  test('has the wallet of the tenth development account', () => {
    const { address } = mnemonicToAccount('test test test test test test test test test test test junk', {
      addressIndex: 9,
    });
    expect(brand?.brand.brandId).toBe(address.toLowerCase());
  });

  test('has a key and a webhook secret in their documented forms', () => {
    expect(brand?.apiKey).toMatch(/^rk_dev_demo_[A-Za-z0-9]{32}$/);
    const secret = brand?.webhook?.secret ?? '';
    expect(secret).toMatch(/^whsec_/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  test.each(contractRewards)('pays for %s what the contract lists: %i', (eventType, reward) => {
    expect(ruleOf(eventType)).toMatchObject({ active: true, rewardAmount: reward, maxTotalClaims: -1 });
    expect(ruleOf(eventType).detail).toMatchObject({ eventId: eventType, isCustom: false });
  });

  /** What the demo site sends beside events of the contract. */
  const ofSite = ['daily_visit', 'daily_login', 'article_published', 'social_share'];
  test('has the events of the contract, those of its site and two of its own', () => {
    const types = brand?.rules.map(({ eventType }) => eventType) ?? [];
    const listed = new Set(contractRewards.map(([eventType]) => eventType));
    const own = ['custom_support_answer', 'custom_limited'];
    expect(types.filter((type) => !listed.has(type))).toEqual([...ofSite, ...own]);
    expect(types).toHaveLength(listed.size + 6);
  });

  const special = new Map([
    ['rate_experience', { maxClaims: -1, cooldownMs: HOUR_MS }],
    ['form_submit', { maxClaims: -1, cooldownMs: 0 }],
    ['daily_visit', { maxClaims: -1, cooldownMs: 0 }],
    ['daily_login', { maxClaims: -1, cooldownMs: 24 * HOUR_MS }],
    ['article_published', { maxClaims: -1, cooldownMs: 0 }],
    ['social_share', { maxClaims: -1, cooldownMs: 24 * HOUR_MS }],
  ]);
  test.each(brand?.rules ?? [])('limits $eventType as described', ({ eventType, maxClaims, cooldownMs }) => {
    const expected = special.get(eventType) ?? { maxClaims: 1, cooldownMs: 24 * HOUR_MS };
    expect({ maxClaims, cooldownMs }).toEqual(expected);
  });

  test('has an event for one channel, one for a hundred users and one by the dollar', () => {
    expect(ruleOf('custom_support_answer').detail).toMatchObject({
      isCustom: true,
      detectionConfig: { channels: ['#support'] },
    });
    expect(ruleOf('custom_limited')).toMatchObject({ maxTotalClaims: 100 });
    const dynamic = brand?.rules.flatMap(({ eventType, detail }) =>
      detail.dynamic ? [[eventType, detail.dynamic]] : [],
    );
    expect(dynamic).toEqual([['purchase', { perUsd: 1, maxReward: 500 }]]);
    expect(ruleOf('purchase').detail.oncePer).toBe('order_id');
  });

  test('has events that a page notices by its address, by an element, and by a form', () => {
    const detection = (eventType: string) =>
      brand?.rules.find((rule) => rule.eventType === eventType)?.detail;
    expect(detection('first_purchase')?.detectionMethod).toBe('url_pattern');
    expect(detection('first_purchase')?.detectionConfig.urlPatterns?.length).toBeGreaterThan(0);
    expect(detection('newsletter_signup')?.detectionConfig.successSelectors?.length).toBeGreaterThan(0);
    expect(detection('form_submit')?.detectionMethod).toBe('form_submit');
  });

  test('has perks of every category, from 50 to 2,000 RWT, one of them with two in stock', () => {
    const perks = brand?.perks ?? [];
    const costs = perks.map(({ cost }) => cost);
    expect(new Set(perks.map(({ category }) => category))).toEqual(
      new Set(['digital', 'physical', 'exclusive']),
    );
    expect([Math.min(...costs), Math.max(...costs)]).toEqual([50, 2_000]);
    expect(perks.map(({ stock }) => stock).filter((stock) => stock !== -1)).toEqual([2]);
  });

  test('has three users who can log in', () => {
    expect(demo.users.map(({ email, login }) => [email, login])).toEqual([
      ['alice@demo.example', 'alice'],
      ['bob@demo.example', 'bob'],
      ['carol@demo.example', 'carol'],
    ]);
    expect(new Set(demo.users.map((user) => user.applicationPassword)).size).toBe(3);
    expect(new Set(demo.users.map((user) => user.password)).size).toBe(3);
    expect(demo.users.map(({ role }) => role)).toEqual(['subscriber', 'subscriber', 'administrator']);
  });

  test('writes out what its site assumes anyway', () => {
    expect(demo.site).toMatchObject({
      brand: brand?.brand.brandId,
      domain: brand?.brand.profile.domains[0],
      debugLog: false,
    });
    expect(demo.site?.events?.map(({ event, ...more }) => ({ ...more, eventName: event }))).toEqual(
      defaultEvents,
    );
    for (const { event } of demo.site?.events ?? []) expect(ruleOf(event).active).toBe(true);
  });

  test('turns on that streaks pay, and writes out their other settings that are assumed anyway', () => {
    const text =
      'brands: [{ name: B, brandId: 0x00000000000000000000000000000000000000bb, domains: [b.example] }]';
    const [bare] = parseFixture([{ name: 'bare.yaml', text }]).brands;
    const streakOf = (of: typeof brand) => of && streakTerms(of.brand);
    expect(streakOf(brand)).toEqual({ ...streakOf(bare), streakPays: 'service' });
    expect(streakOf(bare)).toEqual({
      timeZone: 'UTC',
      streakPays: 'off',
      streakCheckInEvents: [],
      streakBase: 10,
      streakTypes: ['daily'],
      streakGrace: 36 * HOUR_MS,
      streakMultipliers: { 3: 1.1, 7: 1.25, 14: 1.5, 30: 2 },
      streakMilestones: { 7: 100, 30: 500, 100: 2000, 365: 10_000 },
    });
  });
});

test('editors read the schema that the program reads by (UPDATE_SCHEMA=1 writes it anew)', async () => {
  const path = packagedFixture('fixture').replace(/\.yaml$/, '.schema.json');
  const schema = JSON.parse(JSON.stringify(fixtureJsonSchema()));
  if (process.env.UPDATE_SCHEMA) await writeFile(path, `${JSON.stringify(schema, null, 2)}\n`);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(schema);
  const [firstLine] = (await readFile(packagedFixture('demo'), 'utf8')).split('\n');
  expect(firstLine).toBe('# yaml-language-server: $schema=./fixture.schema.json');
});
