/** Which host an event claims, which brand's domain is nearest to it, and how chat platforms are known. */
import { describe, expect, test } from 'vitest';
import type { BrandProfile } from '../../src/rules/brands/brand.ts';
import { claimedHost, hostsBelow, isLoopback, judgeDomain } from '../../src/rules/brands/domain.ts';

const url = 'https://page.example/x';
test.each<[Parameters<typeof claimedHost>[0], string | undefined]>([
  [{ domain: 'a.example', sourceUrl: url, origin: 'https://o.example' }, 'a.example'],
  [{ sourceUrl: url, origin: 'https://o.example' }, 'page.example'],
  [{ sourceUrl: 'no url', origin: 'https://o.example' }, undefined],
  [{ origin: 'https://o.example' }, 'o.example'],
  [{ origin: 'null' }, undefined],
  [{}, undefined],
])('%j claims %s', (from, host) => {
  expect(claimedHost(from)).toBe(host);
});

test.each([
  ['localhost', true],
  ['shop.localhost', true],
  ['127.0.0.1', true],
  ['127.255.10.200', true],
  ['mylocalhost', false],
  ['localhost.example', false],
  ['127.0.0.1.example', false],
  ['1127.0.0.1', false],
  ['127.0.0', false],
  ['127.0.0.1000', false],
  ['128.0.0.1', false],
])('this machine by the name %s: %s', (host, isHere) => {
  expect(isLoopback(host)).toBe(isHere);
});

describe('the hosts of an event that another brand may be nearer to', () => {
  const brand = { profile: { domains: ['shop.example', 'shop.test'] } };
  test.each<[Parameters<typeof hostsBelow>[0], string[]]>([
    [{ domain: 'a.shop.example' }, ['a.shop.example']],
    [{ domain: 'a.shop.test', origin: 'https://b.shop.example' }, ['a.shop.test', 'b.shop.example']],
    [{ domain: 'shop.example', origin: 'https://shop.test' }, []],
    [{ domain: 'other.example' }, []],
    [{ origin: 'null' }, []],
    [{}, []],
  ])('%j: %j', (from, hosts) => {
    expect(hostsBelow(from, brand)).toEqual(hosts);
    expect(hostsBelow(from, undefined)).toEqual([]);
  });
});

const judge = (
  from: Parameters<typeof judgeDomain>[0],
  brand: Partial<Pick<BrandProfile, 'domains' | 'platforms' | 'domainless'>> = {},
  context: Partial<Parameters<typeof judgeDomain>[2]> = {},
) => judgeDomain(from, { domains: ['shop.example'], platforms: {}, ...brand }, { ownHosts: [], ...context });

describe('the nearest domain', () => {
  test.each<[string, string[], boolean]>([
    ['shop.example', ['eu.shop.example'], true],
    ['a.shop.example', ['eu.shop.example'], true],
    ['eu.shop.example', ['eu.shop.example'], false],
    ['a.eu.shop.example', ['eu.shop.example', 'other.example'], false],
    ['a.shop.example', ['example'], true],
    ['a.shop.example', ['shop.example'], true],
    ['other.example', [], false],
  ])('of %s beside %j is ours: %s', (host, otherDomains, ours) => {
    expect(judge({ domain: host }, {}, { otherDomains })).toEqual({ authorized: ours, host });
    expect(judge({ origin: `https://${host}` }, {}, { otherDomains }).authorized).toBe(ours);
  });

  test('of two domains of the brand, the longer one counts', () => {
    const domains = ['shop.example', 'eu.shop.example'];
    const others = { otherDomains: ['eu.shop.example'] };
    expect(judge({ domain: 'a.eu.shop.example' }, { domains }, others).authorized).toBe(true);
  });
});

test('without any host only a brand that allows it takes the event', () => {
  expect(judge({}, { domainless: 'allow' })).toEqual({ authorized: true, host: undefined });
  expect(judge({}, { domainless: 'credential' }).authorized).toBe(false);
  expect(judge({}).authorized).toBe(false);
  expect(judge({ domain: 'evil.example' }, { domainless: 'allow' }).authorized).toBe(false);
});

test('a page of the service may send, one elsewhere may not, and its host is told', () => {
  const ownHosts = ['events.example', 'rewards.example'];
  const from = { domain: 'shop.example' };
  expect(judge({ ...from, origin: 'https://rewards.example' }, {}, { ownHosts }).authorized).toBe(true);
  expect(judge({ ...from, origin: 'https://evil.example' }, {}, { ownHosts })).toEqual({
    authorized: false,
    host: 'evil.example',
  });
});

describe('an event of a chat platform', () => {
  const platforms = {
    telegram: '@ShopBot',
    twitter: 'shop',
    discord: '77',
    slack: 'Shop Team',
    X: 'shopx',
    github: 'Strasse',
  };
  const ownDomain = 'rewards.example';
  const comes = (domain: string | undefined, metadata?: Record<string, unknown>) =>
    judge({ domain }, { platforms }, { ownDomain, metadata }).authorized;

  test.each<[Record<string, unknown>]>([
    [{ bot_username: 'shopbot' }],
    [{ bot_username: ' @SHOPBOT ' }],
    [{ twitterHandle: '@shop' }],
    [{ twitterHandle: '@shopx' }],
    [{ server_id: '77' }],
    [{ guild_id: '77' }],
    [{ discordHandle: '77' }],
    [{ slackHandle: 'shop team' }],
  ])('%j is the brand’s', (metadata) => {
    expect(comes(undefined, metadata)).toBe(true);
  });

  test.each<[Record<string, unknown> | undefined]>([
    [undefined],
    [{}],
    [{ bot_username: 'shop' }],
    [{ bot_username: '@@shopbot' }],
    [{ bot_username: 'a@shopbot' }],
    [{ bot_username: 'shop@bot' }],
    [{ githubHandle: 'straße' }],
    [{ server_id: 77 }],
    [{ telegramHandle: 'shopbot' }],
    [{ slack: 'shop team' }],
    [Object.create({ bot_username: 'shopbot' })],
  ])('%j is nobody’s', (metadata) => {
    expect(comes(undefined, metadata)).toBe(false);
  });

  test.each([
    ['telegram', true],
    ['Telegram', true],
    ['telegram.rewards.example', true],
    ['discord', false],
    ['discord.rewards.example', false],
    ['telegram.other.example', false],
    ['telegramrewards.example', false],
    ['evil.example', false],
  ])('under the domain %s: %s', (domain, authorized) => {
    expect(comes(domain, { bot_username: 'shopbot' })).toBe(authorized);
  });

  test('goes by any name of its platform', () => {
    for (const domain of ['x', 'twitter', 'x.rewards.example'])
      expect([domain, comes(domain, { twitterHandle: 'shop' })]).toEqual([domain, true]);
  });

  test('without an own domain, names below it are refused', () => {
    const metadata = { bot_username: 'shopbot' };
    expect(judge({ domain: 'telegram.undefined' }, { platforms }, { metadata }).authorized).toBe(false);
  });
});
