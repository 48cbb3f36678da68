/** What each check says of an event, word for word, and when a refused one would be rewarded. */
import { describe, expect, test } from 'vitest';
import type { BrandProfile, EventRule } from '../../src/rules/brands/brand.ts';
import { type EventCase, explainEvent, whenItPasses } from '../../src/rules/events/explain-event.ts';
import type { EventSubmission } from '../../src/rules/events/submission.ts';
import { brandId, brandWith, visitWith } from './events.ts';

const NOW = Date.UTC(2030, 0, 1, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const brand = (profile: Partial<BrandProfile> = {}) =>
  brandWith({ domains: ['shop.example', 'shop.test'], ...profile });
const rule = (change: Partial<EventRule> = {}, detail: Partial<EventRule['detail']> = {}): EventRule => ({
  brandId,
  eventType: 'visit',
  active: true,
  rewardAmount: 10,
  maxClaims: 3,
  maxTotalClaims: 50,
  cooldownMs: HOUR,
  detail: { eventId: 'visit', isCustom: false, detectionMethod: 'manual', detectionConfig: {}, ...detail },
  ...change,
});
const submission = (change: Partial<EventSubmission> = {}) =>
  visitWith({ domain: 'www.shop.example', ...change });
/** An event that every check let through, two hours after the user's last one. */
const passed = (change: Partial<EventCase> = {}): EventCase => ({
  nowMs: NOW,
  duplicateWindowMs: MINUTE,
  bodyBytes: 120,
  bodyLimitBytes: 10_240,
  submission: submission(),
  brand: brand(),
  rule: rule(),
  bypass: { cooldown: false, maxClaims: false },
  state: {
    counter: { claims: 2, lastAt: NOW - 2 * HOUR, lastRewardId: 'earlier', lastAmount: 10 },
    totalClaims: 7,
    availableFunds: 500,
    spending: [
      { span: 'day', limit: 100, spent: 20, endsAtMs: NOW + HOUR },
      { span: 'hour', limit: 40, spent: 10, endsAtMs: NOW + MINUTE },
    ],
  },
  ...change,
});
const nothing: EventCase = { nowMs: NOW, duplicateWindowMs: MINUTE, bodyBytes: 1, bodyLimitBytes: 2 };
const said = (name: string, event: EventCase) => {
  const { outcome, text } = explainEvent(event).find((check) => check.name === name) ?? {};
  return `${outcome}: ${text}`;
};

describe('an event that is rewarded', () => {
  test('passes every check, in their order, with its numbers', () => {
    expect(explainEvent(passed()).map(({ name, outcome, text }) => `${name} ${outcome}: ${text}`)).toEqual([
      'body ok: 120 of 10240 bytes, JSON',
      'fields ok: visit for alice@demo.example',
      'brand ok: Shop',
      'automation ok: on',
      'credential skipped: not needed for this event',
      'domain ok: www.shop.example belongs to shop.example, shop.test',
      'event ok: visit pays 10 RWT',
      'channel skipped: the event is not limited to channels',
      'duplicate ok: last reward 2h ago, window 1m',
      'cooldown ok: last reward 2h ago, cooldown 1h',
      'max_claims ok: 2 claims, at most 3',
      'max_total_claims ok: 7 claims of all users, at most 50',
      'spend_limit ok: 20 of 100 RWT in the day, 10 of 40 RWT in the hour',
      'brand_funds ok: 500 RWT not promised yet',
    ]);
  });

  const withKey = { submission: submission({ withBrandKey: true }) };
  const unlimited = { rule: rule({ maxClaims: -1, maxTotalClaims: 999_999, cooldownMs: 0 }) };
  const channels = (allowed: string[]) => rule({}, { detectionConfig: { channels: allowed } });
  const first = { state: { totalClaims: 0, availableFunds: 5 } };
  const noDomain = submission({ domain: undefined });
  test.each<[string, string, Partial<EventCase>, string]>([
    ['the key', 'credential', withKey, "ok: the brand's key"],
    ['the key', 'domain', withKey, "skipped: the request carries the brand's key"],
    [
      'no domain, where the brand needs none',
      'domain',
      { submission: noDomain, brand: brand({ domainless: 'allow' }) },
      'ok: the brand takes events without a domain',
    ],
    [
      'a domain, where the brand needs none',
      'domain',
      { brand: brand({ domainless: 'allow' }) },
      'ok: www.shop.example belongs to shop.example, shop.test',
    ],
    [
      'the name of a chat platform',
      'domain',
      { submission: noDomain },
      'ok: a chat platform belongs to shop.example, shop.test',
    ],
    ['no limits', 'max_claims', unlimited, 'ok: 2 claims, no limit'],
    ['no limits', 'max_total_claims', unlimited, 'ok: 7 claims of all users, no limit'],
    ['no limits', 'cooldown', unlimited, 'skipped: the event has no cooldown'],
    ['a first claim', 'duplicate', first, 'ok: no earlier reward, window 1m'],
    ['a first claim', 'cooldown', first, 'ok: no earlier reward, cooldown 1h'],
    ['a first claim', 'max_claims', first, 'ok: 0 claims, at most 3'],
    ['no spend limit', 'spend_limit', first, 'ok: no limit'],
    [
      'no list of channels',
      'channel',
      { rule: channels([]) },
      'skipped: the event is not limited to channels',
    ],
    ['no channel', 'channel', { rule: channels(['#a']) }, 'skipped: no channel given'],
    [
      'a channel of the list',
      'channel',
      { rule: channels(['#a', '#b']), submission: submission({ channel: 'b' }) },
      'ok: b is one of #a, #b',
    ],
    [
      'a source that skips',
      'cooldown',
      { bypass: { cooldown: true, maxClaims: false } },
      'skipped: the event skips the cooldown',
    ],
    [
      'a source that skips',
      'max_claims',
      { bypass: { cooldown: false, maxClaims: true } },
      "skipped: the event's source skips this limit",
    ],
  ])('with %s, %s', (_, name, change, text) => {
    expect(said(name, passed(change))).toBe(text);
  });

  test('of which nothing is known is shown with nothing', () => {
    expect(explainEvent(nothing).map(({ text }) => text)).toEqual([
      '1 of 2 bytes, JSON',
      ' for ',
      '',
      'on',
      'not needed for this event',
      'a chat platform belongs to the brand',
      ' pays ? RWT',
      'the event is not limited to channels',
      'no earlier reward, window 1m',
      'no earlier reward, cooldown 0ms',
      '0 claims, no limit',
      '0 claims of all users, no limit',
      'no limit',
      '0 RWT not promised yet',
    ]);
    expect(said('brand', { ...nothing, submission: submission() })).toBe(`ok: ${brandId}`);
    expect(said('channel', { ...nothing, rule: channels(['#a']) })).toBe('skipped: no channel given');
  });
});

describe('why an order total counts for nothing', () => {
  const ordered = submission({ metadata: { order_total: 5 } });
  const careful = brand({ clientAmounts: 'credential' });
  const byOrder = rule({}, { dynamic: { perUsd: 2, maxReward: 50 } });
  test.each<[string, Partial<EventCase>, string]>([
    ['it counts', { submission: ordered, rule: byOrder }, ''],
    ['there is none', { brand: careful, rule: byOrder }, ''],
    ['the rule pays a fixed reward', { submission: ordered, brand: careful }, ''],
    [
      'the rule multiplies only',
      { submission: ordered, brand: careful, rule: rule({}, { dynamic: { multiplier: 'streak' } }) },
      '',
    ],
    [
      'the rule has no end',
      { submission: ordered, rule: rule({}, { dynamic: { perUsd: 2 } }) },
      ': order_total does not count until the rule has a maxReward',
    ],
    [
      'anybody could have written it',
      { submission: ordered, brand: careful, rule: byOrder },
      ": order_total does not count without the brand's key",
    ],
    [
      "the brand's own server wrote it",
      { submission: { ...ordered, withBrandKey: true }, brand: careful, rule: byOrder },
      '',
    ],
  ])('%s', (_, change, why) => {
    expect(said('event', passed(change))).toBe(`ok: visit pays 10 RWT${why}`);
  });

  test('without a brand or a rule nothing is said of it', () => {
    expect(said('event', { ...nothing, submission: ordered, rule: byOrder })).toBe('ok: visit pays 10 RWT');
    expect(said('event', { ...nothing, submission: ordered, brand: careful })).toBe('ok:  pays ? RWT');
  });
});

const spendLimit = {
  code: 'spend_limit',
  span: 'hour',
  spent: 35,
  limit: 40,
  required: 10,
  endsAtMs: 0,
} as const;
const elsewhere = { code: 'domain_not_authorized', brandId, brandName: 'Shop' } as const;
const cooldown = {
  code: 'cooldown',
  cooldownMs: HOUR,
  remainingMs: 20 * MINUTE,
  passesAtMs: NOW + 20 * MINUTE,
  previousReward: { eventId: 'earlier', rewardAmount: 10, timestamp: NOW - 40 * MINUTE },
} as const;
const fromThere = "send the event from the brand's domain, or with the brand's key";

describe('a refusal', () => {
  test.each<[NonNullable<EventCase['refusal']>, string, string, (string | undefined)?, (number | null)?]>([
    [{ code: 'body_too_large' }, 'body', 'more than 10240 bytes', 'send less metadata'],
    [{ code: 'invalid_body' }, 'body', 'not the JSON of one event', 'send one JSON object'],
    [{ code: 'invalid_event_data', errors: ['a', 'b'] }, 'fields', 'a; b', 'correct the named fields'],
    [
      { code: 'brand_not_found', brandId },
      'brand',
      `no brand is registered under ${brandId}`,
      'rewards brand list',
    ],
    [
      { code: 'automation_disabled', brandId },
      'automation',
      'off',
      `rewards brand set ${brandId} automation=on`,
    ],
    [
      { code: 'brand_key_required', what: 'events', brandId },
      'credential',
      'the brand takes events with its key only (clientEvents is credential)',
      "send the event from the brand's server, with its key",
    ],
    [
      { code: 'brand_key_required', what: 'direct_addresses', brandId },
      'credential',
      'the brand pays addresses with its key only (directAddresses is credential)',
      "send the event from the brand's server, with its key",
    ],
    [
      { ...elsewhere, host: 'evil.example', configured: ['a.example', 'b.example'] },
      'domain',
      'evil.example is not a.example or b.example, nor under it',
      fromThere,
    ],
    [
      { ...elsewhere, host: undefined, configured: ['a.example'] },
      'domain',
      'no domain given is not a.example, nor under it',
      fromThere,
    ],
    [
      { ...elsewhere, host: 'localhost', configured: ['a.example'] },
      'domain',
      'localhost is not a.example, nor under it',
      `name the brand's domain: data-domain="a.example" on the page's script tag, or domain in the event`,
    ],
    [
      { ...elsewhere, host: 'localhost', configured: [] },
      'domain',
      'localhost is not , nor under it',
      `name the brand's domain: data-domain="" on the page's script tag, or domain in the event`,
    ],
    [
      { code: 'event_not_found', eventType: 'dance', brandId },
      'event',
      'no active event dance',
      `rewards brand show ${brandId}`,
    ],
    [
      { code: 'channel_not_allowed', channel: '#c', allowed: ['#a', '#b'] },
      'channel',
      '#c is not one of #a, #b',
      'send the event from an allowed channel',
    ],
    [
      { code: 'duplicate', existingEventId: 'earlier', passesAtMs: NOW + 5 },
      'duplicate',
      'event earlier was accepted less than 1m ago',
      undefined,
      NOW + 5,
    ],
    [
      cooldown,
      'cooldown',
      'last reward 2030-01-01T11:20:00.000Z, 20m of 1h left',
      undefined,
      NOW + 20 * MINUTE,
    ],
    [
      { code: 'max_claims_reached', totalClaims: 4, maxClaims: 3 },
      'max_claims',
      '4 of 3 claims used',
      'raise maxClaims of the rule',
    ],
    [
      { code: 'max_total_claims_reached', totalClaims: 51, maxTotalClaims: 50 },
      'max_total_claims',
      '51 of 50 claims of all users used',
      'raise maxTotalClaims of the rule',
    ],
    [
      { ...spendLimit, passesAtMs: NOW + 9 },
      'spend_limit',
      '35 of 40 RWT in the hour, 10 needed',
      'raise spendPerHour of the brand',
      NOW + 9,
    ],
    [
      { ...spendLimit, span: 'day', passesAtMs: undefined },
      'spend_limit',
      '35 of 40 RWT in the day, 10 needed',
      'raise spendPerDay of the brand',
    ],
    [
      { code: 'insufficient_brand_balance', available: 3, required: 10 },
      'brand_funds',
      '3 RWT left in escrow, 10 needed',
      'put RWT into the escrow: rewards brand fund <brand> <amount>',
    ],
  ])('%o', (refusal, name, text, or, passesAtMs = null) => {
    const checks = explainEvent(passed({ refusal }));
    const place = checks.findIndex((check) => check.name === name);
    expect(checks[place]).toEqual({ name, outcome: 'refused', text, passesAtMs, ...(or && { or }) });
    expect(checks.slice(0, place).filter(({ outcome }) => !['ok', 'skipped'].includes(outcome))).toEqual([]);
    expect(checks.slice(place + 1).every((one) => one.outcome === 'not reached' && one.text === '')).toBe(
      true,
    );
  });

  test('by a cooldown says how to skip it, where anybody may', () => {
    const skips = explainEvent(passed({ refusal: cooldown, brand: brand({ clientBypass: 'allow' }) }));
    expect(skips.find(({ name }) => name === 'cooldown')?.or).toBe('metadata.skip_cooldown=true');
    const { brand: _, ...unknown } = passed({ refusal: cooldown });
    expect(explainEvent(unknown).find(({ name }) => name === 'cooldown')).not.toHaveProperty('or');
  });

  test('that no check makes leaves every check as it was', () => {
    expect(explainEvent(passed({ refusal: { code: 'database_busy' } }))).toEqual(explainEvent(passed()));
  });
});

describe('when a refused event would be rewarded', () => {
  const counter = { claims: 1, lastAt: NOW - 1, lastRewardId: 'earlier', lastAmount: 10 };
  const duplicate = { code: 'duplicate', existingEventId: 'earlier', passesAtMs: NOW - 1 + MINUTE } as const;
  const state = { counter, totalClaims: 1, availableFunds: 500 };

  test('was rewarded: at no other time', () => {
    expect(whenItPasses(passed())).toBeUndefined();
  });

  test.each<[string, Partial<EventCase>, object]>([
    ['when the cooldown ends', { refusal: cooldown }, { atMs: NOW + 20 * MINUTE }],
    [
      'after the window of duplicates',
      { refusal: duplicate, rule: rule({ cooldownMs: 0 }), state },
      { atMs: NOW - 1 + MINUTE },
    ],
    ['after that window and the cooldown', { refusal: duplicate, state }, { atMs: NOW - 1 + HOUR }],
    [
      'never, when the last claim is used by then',
      { refusal: duplicate, state, rule: rule({ maxClaims: 1 }) },
      { never: 'max_claims', text: '1 of 1 claims used' },
    ],
    [
      'never, when the escrow is empty by then',
      { refusal: duplicate, state: { ...state, availableFunds: 9 } },
      { never: 'brand_funds', text: '9 RWT left in escrow, 10 needed' },
    ],
    [
      'never, when waiting does not help',
      { refusal: { code: 'brand_not_found', brandId } },
      { never: 'brand', text: `no brand is registered under ${brandId}` },
    ],
    [
      'never, when the reward alone is above the limit',
      { refusal: { ...spendLimit, passesAtMs: undefined } },
      { never: 'spend_limit', text: '35 of 40 RWT in the hour, 10 needed' },
    ],
  ])('%s', (_, change, outlook) => {
    expect(whenItPasses(passed(change))).toEqual(outlook);
  });

  test.each<[string, Partial<EventCase>, string]>([
    ['what its order makes', {}, '30 RWT left in escrow, 40 needed'],
    [
      'what its rule pays, where the order does not count',
      { brand: brand({ clientAmounts: 'credential' }) },
      '',
    ],
    ['what its rule pays, where the event is not known', { submission: undefined }, ''],
  ])('it needs %s', (_, change, text) => {
    const outlook = whenItPasses(
      passed({
        refusal: cooldown,
        submission: submission({ metadata: { order_total: 20 } }),
        rule: rule({}, { dynamic: { perUsd: 2, maxReward: 50 } }),
        state: { ...state, availableFunds: 30 },
        ...change,
      }),
    );
    expect(outlook).toEqual(text ? { never: 'brand_funds', text } : { atMs: NOW + HOUR - 1 });
  });

  test.each(['rule', 'state', 'bypass'] as const)('without its %s, the check that refused it', (part) => {
    expect(whenItPasses(passed({ refusal: cooldown, [part]: undefined }))).toEqual({
      never: 'cooldown',
      text: 'last reward 2030-01-01T11:20:00.000Z, 20m of 1h left',
    });
  });
});
