/** What stands against an event before anything is counted: which reason comes first, and whom the brand's key helps. */
import { describe, expect, test } from 'vitest';
import type { Brand, BrandProfile, EventRule } from '../../src/rules/brands/brand.ts';
import {
  type EventSubmission,
  namedType,
  refuseSubmission,
  underOwnType,
} from '../../src/rules/events/submission.ts';
import { brandId, brandWith, visitWith } from './events.ts';

const brand = (profile: Partial<BrandProfile> = {}, automation = true) =>
  brandWith({ platforms: { telegram: '@ShopBot' }, ...profile }, automation);
const rule = (active = true, channels?: string[]) =>
  ({ active, detail: { detectionConfig: { ...(channels && { channels }) } } }) as EventRule;
const refuse = (
  change: Partial<EventSubmission> = {},
  against: { brand?: Brand | undefined; rule?: EventRule | undefined; otherDomains?: string[] } = {},
) =>
  refuseSubmission(visitWith(change), {
    brand: brand(),
    rule: rule(),
    ownHosts: ['rewards.example'],
    ownDomain: 'rewards.example',
    ...against,
  });

const elsewhere = { domain: 'evil.example' };
const unauthorized = (host: string | undefined) => ({
  code: 'domain_not_authorized',
  host,
  brandId,
  brandName: 'Shop',
  configured: ['shop.example'],
});
const userAddress = `0x${'cd'.repeat(20)}` as const;

test('nothing stands against an event of the brand', () => {
  expect(refuse()).toBeUndefined();
});

test('of several reasons the first is told', () => {
  const wrong = { ...elsewhere, channel: '#c', eventType: 'dance' };
  const closed = { clientEvents: 'credential' as const };
  const unknown = { rule: undefined };
  const channel = { rule: rule(true, ['#a', '#b']) };
  expect(refuse(wrong, { brand: undefined, ...unknown })).toEqual({ code: 'brand_not_found', brandId });
  expect(refuse(wrong, { brand: brand(closed, false), ...unknown })).toEqual({
    code: 'automation_disabled',
    brandId,
  });
  expect(refuse(wrong, { brand: brand(closed), ...unknown })).toEqual({
    code: 'brand_key_required',
    what: 'events',
    brandId,
  });
  expect(refuse(wrong, unknown)).toEqual(unauthorized('evil.example'));
  const missing = { code: 'event_not_found', eventType: 'dance', brandId };
  expect(refuse({ ...wrong, domain: 'shop.example' }, unknown)).toEqual(missing);
  expect(refuse({ ...wrong, domain: 'shop.example' }, { rule: rule(false, ['#a']) })).toEqual(missing);
  expect(refuse({ channel: '#c' }, channel)).toEqual({
    code: 'channel_not_allowed',
    channel: '#c',
    allowed: ['#a', '#b'],
  });
  expect(refuse({ channel: '#b' }, channel)).toBeUndefined();
  expect(refuse({}, channel)).toBeUndefined();
  expect(refuse({ channel: '#c' })).toBeUndefined();
});

describe('what the brand takes with its key only', () => {
  test.each<[Partial<BrandProfile>, Partial<EventSubmission>, string | undefined]>([
    [{ clientEvents: 'credential' }, {}, 'events'],
    [{ clientEvents: 'credential' }, { withBrandKey: true }, undefined],
    [{ clientEvents: 'open' }, {}, undefined],
    [{ clientEvents: 'credential', directAddresses: 'credential' }, { userAddress }, 'events'],
    [{ directAddresses: 'credential' }, { userAddress }, 'direct_addresses'],
    [{ directAddresses: 'credential' }, { userAddress, withBrandKey: true }, undefined],
    [{ directAddresses: 'credential' }, {}, undefined],
    [{ directAddresses: 'allow' }, { userAddress }, undefined],
  ])('%j and %j: %s', (profile, change, what) => {
    expect(refuse(change, { brand: brand(profile) })).toEqual(
      what && { code: 'brand_key_required', what, brandId },
    );
  });
});

describe('where an event may come from', () => {
  const none = { domain: undefined };
  const withBrandKey = true;
  test.each<[Partial<BrandProfile>, Partial<EventSubmission>, object | undefined]>([
    [{}, elsewhere, unauthorized('evil.example')],
    [{}, { ...elsewhere, withBrandKey }, undefined],
    [{ domainless: 'refuse' }, { ...elsewhere, withBrandKey }, undefined],
    [{ domainless: 'refuse' }, { ...none, withBrandKey }, unauthorized(undefined)],
    [{ domainless: 'credential' }, { ...none, withBrandKey }, undefined],
    [{ domainless: 'credential' }, none, unauthorized(undefined)],
    [{ domainless: 'allow' }, none, undefined],
    [{}, { ...none, metadata: { bot_username: 'shopbot' } }, undefined],
    [{}, { domain: 'telegram.rewards.example', metadata: { bot_username: 'shopbot' } }, undefined],
  ])('%j, %j', (profile, change, refusal) => {
    expect(refuse(change, { brand: brand(profile) })).toEqual(refusal);
  });

  test('a page of the service itself may send it, and a domain that another brand has below may not', () => {
    expect(refuse({ origin: 'https://rewards.example' })).toBeUndefined();
    const below = { domain: 'a.other.shop.example' };
    expect(refuse(below)).toBeUndefined();
    expect(refuse(below, { otherDomains: ['other.shop.example'] })).toEqual(unauthorized(below.domain));
  });
});

describe("a brand's own names of events", () => {
  const named = brand({ eventNameMapping: { signup: 'account_creation', visit: 'buy' } });
  const under = (eventType: string, types: string[] = [], of: Brand | undefined = named) =>
    underOwnType(visitWith({ eventType }), { brand: of, isType: (type) => types.includes(type) });

  test('stand for a type, unless there is an event of that name', () => {
    expect(under('signup')).toEqual(visitWith({ eventType: 'account_creation' }));
    expect(under('visit').eventType).toBe('buy');
    expect(under('visit', ['visit']).eventType).toBe('visit');
    expect(under('dance').eventType).toBe('dance');
    expect(under('signup', [], brand()).eventType).toBe('signup');
  });

  test('are those that it gave, and no others', () => {
    expect(namedType(named, 'signup')).toBe('account_creation');
    for (const name of ['toString', 'constructor', 'dance']) expect(namedType(named, name)).toBeUndefined();
    expect(namedType(brand(), 'signup')).toBeUndefined();
    expect(namedType(undefined, 'signup')).toBeUndefined();
  });
});
