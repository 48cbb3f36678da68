/** What the plugin sends, seen from the service: a receiver on a port that answers as each test wants. */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { siteSettings } from '../../src/site/config.ts';
import { defaultEvents } from '../../src/site/plugin/plugin-settings.ts';
import { startReceiver } from '../kits/network/receivers.ts';
import { startTestSite, type TestSite } from '../kits/site/site.ts';

const brandId = `0x${'ab'.repeat(20)}`;
const rewarded = { status: 200, body: JSON.stringify({ success: true, rewardAmount: 5, message: 'Five' }) };
let answer: { status: number; body: string } | 'never' | 'broken' = rewarded;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let site: TestSite;
/** The same users, with little patience: only for a service that never answers. */
let impatient: TestSite;

beforeAll(async () => {
  receiver = await startReceiver((_, response: ServerResponse) => {
    if (answer === 'broken') response.destroy();
    else if (answer !== 'never') response.writeHead(answer.status).end(answer.body);
  });
  const url = `http://127.0.0.1:${receiver.port}`;
  const settings = { brandId, eventHandlerUrl: url, servicesUrl: url, events: [...defaultEvents] };
  site = await startTestSite({ ...settings, debugLogging: true });
  impatient = await startTestSite(settings, { like: site, callTimeoutMs: 50 });
});
afterEach(() => {
  answer = rewarded;
  receiver.received.length = 0;
});
afterAll(async () => {
  await impatient?.stop();
  await site?.stop();
  await receiver?.stop();
});

const sent = () => receiver.received.map(({ body }) => JSON.parse(body.toString('utf8')));
const types = () => sent().map(({ eventType }) => eventType);

it('an event call names the plugin, the brand, the user, the domain, the platform and the time', async () => {
  const { email } = await site.person();
  const atMs = Date.parse('2031-02-03T04:05:06.000Z');
  site.clock.freeze();
  site.clock.set(atMs);
  await site.site.plugin.fire('comment_posted', {
    email,
    metadata: { post: 'hello', platform: 'elsewhere', timestamp: 'yesterday' },
  });
  site.clock.run();
  const [request] = receiver.received;
  expect(request).toMatchObject({ method: 'POST', path: '/rewards-api/manual-event' });
  expect(request?.headers['user-agent']).toBe(`rewards-site/${manifest.version}`);
  expect(request?.headers['content-type']).toBe('application/json');
  expect(request?.headers.authorization).toBeUndefined();
  expect(sent()).toEqual([
    {
      brandId,
      eventType: 'review_submission',
      userEmail: email,
      domain: 'demo.example',
      metadata: { post: 'hello', platform: 'site', timestamp: '2031-02-03T04:05:06.000Z' },
    },
  ]);
});

it('without a domain in the settings the host of the site is sent', async () => {
  site.site.plugin.settings.save({ domain: '' });
  await site.site.plugin.fire('comment_posted', { email: 'ada@mail.example' });
  site.site.plugin.settings.save({ domain: 'demo.example' });
  expect(sent()[0].domain).toBe('127.0.0.1');
});

it("the brand's key goes along where the settings have one, and into no debug line", async () => {
  site.site.plugin.settings.save({ apiKey: 'rk_dev_site_secret' });
  answer = { status: 403, body: JSON.stringify({ error: 'No', message: 'rk_dev_site_secret is not known' }) };
  await site.site.plugin.fire('comment_posted', { email: 'ada@mail.example' });
  site.site.plugin.settings.save({ apiKey: '' });
  expect(receiver.received[0]?.headers.authorization).toBe('Bearer rk_dev_site_secret');
  expect(site.site.plugin.debugLog()[0]?.text).toBe(
    'event review_submission of ada@mail.example: 403 [key] is not known',
  );
});

it('a hook sends every event that is on for it, and none that is off', async () => {
  const events = [
    { hook: 'order_completed', eventName: 'purchase', enabled: true },
    { hook: 'order_completed', eventName: 'first_purchase', enabled: true },
    { hook: 'order_completed', eventName: 'Purchase', enabled: false },
    { hook: 'login', eventName: 'daily_login', enabled: true },
  ];
  expect(site.site.plugin.settings.save({ events })).toEqual([]);
  const calls = await site.site.plugin.fire('order_completed', { email: 'ada@mail.example' });
  site.site.plugin.settings.save({ events: [...defaultEvents] });
  expect(types().sort()).toEqual(['first_purchase', 'purchase']);
  expect(calls).toContainEqual({
    eventName: 'purchase',
    success: true,
    status: 200,
    message: 'Five',
    reward: 5,
  });
});

it('a login over HTTP fires the hook with the e-mail of the user, not with their name', async () => {
  const on = defaultEvents.map((event) => (event.hook === 'login' ? { ...event, enabled: true } : event));
  site.site.plugin.settings.save({ events: on });
  const person = await site.person();
  await site.browser(person);
  await site.site.plugin.idle();
  site.site.plugin.settings.save({ events: [...defaultEvents] });
  expect(sent()).toMatchObject([{ eventType: 'daily_login', userEmail: person.email }]);
});

it('success is HTTP 200 alone, and no answer has status 0', async () => {
  const fire = async () => (await site.site.plugin.fire('comment_posted', { email: 'ada@mail.example' }))[0];
  answer = { status: 202, body: '{}' };
  expect(await fire()).toMatchObject({ success: false, status: 202 });
  answer = { status: 500, body: '<html>broken</html>' };
  expect(await fire()).toMatchObject({ success: false, status: 500, message: 'The service answered 500' });
  answer = 'broken';
  expect(await fire()).toMatchObject({ success: false, status: 0 });
  answer = 'never';
  expect(await impatient.site.plugin.fire('share', { email: 'ada@mail.example' })).toMatchObject([
    { success: false, status: 0, message: expect.stringContaining('no answer within 50 ms') },
  ]);
  expect(siteSettings.callTimeoutMs).toBe(15_000);
});

describe('a daily visit', () => {
  const visit = (email: string) => site.site.plugin.fire('page_load', { email });

  it('is sent once in 24 hours of the clock, however many pages are opened', async () => {
    const { email } = await site.person();
    await visit(email);
    await visit(email.toUpperCase());
    expect(types()).toEqual(['daily_visit']);
    site.clock.advance(24 * 3_600_000 - 60_000);
    await visit(email);
    expect(types()).toEqual(['daily_visit']);
    site.clock.advance(60_000);
    await visit(email);
    expect(types()).toEqual(['daily_visit', 'daily_visit']);
  });

  it('is sent once by pages that open at the same time', async () => {
    const { email } = await site.person();
    await Promise.all(Array.from({ length: 20 }, () => visit(email)));
    expect(types()).toEqual(['daily_visit']);
  });

  it.each([
    ['a refusal', { status: 429, body: '{"error":"Cooldown active"}' }],
    ['trouble of the service', { status: 503, body: '' }],
    ['a connection that broke off', 'broken' as const],
  ])('is tried again by the next page after %s', async (_, failure) => {
    const { email } = await site.person();
    await visit(email);
    site.clock.advance(24 * 3_600_000);
    answer = failure;
    expect(await visit(email)).toMatchObject([{ success: false }]);
    answer = rewarded;
    expect(await visit(email)).toMatchObject([{ success: true }]);
    expect(await visit(email)).toEqual([]);
  });

  it('follows the pages that a user opens, and none of a guest; a page does not wait for it', async () => {
    const person = await site.person();
    const { cookie } = await site.browser(person);
    const visits = () => {
      const events = receiver.received.filter(({ path }) => path.endsWith('/manual-event'));
      return events.filter(({ body }) => JSON.parse(body.toString()).userEmail === person.email).length;
    };
    const openPages = async (headers: Record<string, string>) => {
      for (const path of ['/shop', '/profile']) await site.request(path, { headers });
      await site.site.plugin.idle();
      return visits();
    };
    answer = { status: 503, body: '' };
    expect(await openPages({})).toBe(0);
    await site.request('/shop', { headers: { cookie } });
    await site.site.plugin.idle();
    expect(visits()).toBe(1);
    answer = rewarded;
    expect(await openPages({ cookie })).toBe(2);
    expect(await openPages({ cookie })).toBe(2);
    site.clock.advance(24 * 3_600_000);
    expect(await openPages({ cookie })).toBe(3);
  });

  it('is not held up by a clock that was set back', async () => {
    const { email } = await site.person();
    await visit(email);
    site.clock.advance(-48 * 3_600_000);
    expect(await visit(email)).toMatchObject([{ success: true }]);
    site.clock.advance(48 * 3_600_000);
  });
});

describe('an answer that is no answer', () => {
  const api = '/wp-json/rewards/v1';
  it.each([
    ['trouble of the service', { status: 503, body: '{"error":"busy"}' }],
    ['a page of HTML with 200', { status: 200, body: '<html></html>' }],
    ['an empty object with 200', { status: 200, body: '{}' }],
    ['a redirect', { status: 302, body: '' }],
    ['a refusal without a reason', { status: 404, body: '<h1>Not Found</h1>' }],
    ['a connection that broke off', 'broken' as const],
    ['silence', 'never' as const],
  ])('is api_error everywhere, never 200: %s', async (_, failure) => {
    const asked = failure === 'never' ? impatient : site;
    const { basic } = await asked.person();
    answer = failure;
    const wanted = { status: 500, body: { code: 'api_error', data: { status: 500 } } };
    expect(await asked.post(`${api}/checkin`, {}, basic)).toMatchObject(wanted);
    expect(await asked.post(`${api}/redeem`, { perkId: 'e1' }, basic)).toMatchObject(wanted);
    expect(await asked.post(`${api}/claim-milestone`, { milestoneDays: 7 }, basic)).toMatchObject(wanted);
    expect(await asked.request(`${api}/leaderboard`)).toMatchObject({
      ...wanted,
      body: { ...wanted.body, message: 'Failed to fetch leaderboard' },
    });
  });

  it('is a refusal where the service says no with 200', async () => {
    const { basic } = await site.person();
    answer = { status: 200, body: '{"success":false,"error":"Already redeemed"}' };
    expect(await site.post(`${api}/redeem`, { perkId: 'e1' }, basic)).toMatchObject({
      status: 400,
      body: { code: 'redeem_failed', message: 'Already redeemed' },
    });
  });
});

describe('a redemption whose outcome is not known', () => {
  const keys = () => receiver.received.map(({ headers }) => headers['idempotency-key']);
  const redeemed = {
    status: 200,
    body: JSON.stringify({ success: true, confirmationCode: 'AAAA', perk: null }),
  };
  const underWay = (status: number, reason: string) => ({
    status,
    body: JSON.stringify({ error: 'Later', message: 'Later', details: { reason } }),
  });

  it.each([
    ['silence', 'never' as const],
    ['a connection that broke off', 'broken' as const],
    ['trouble of the service', { status: 503, body: '' }],
    ['a chain that is late', underWay(500, 'redemption_pending')],
    ['a first request that is still under way', underWay(409, 'request_in_progress')],
  ])(
    'is asked for again under the same key, and once it is settled under another: after %s',
    async (_, failure) => {
      let asked = failure === 'never' ? impatient : site;
      const { basic } = await site.person();
      const redeem = (perkId: string) => asked.post('/wp-json/rewards/v1/redeem', { perkId }, basic);
      answer = failure;
      expect(await redeem('e1')).toMatchObject({ status: 500, body: { code: 'api_error' } });
      expect(await redeem('e1')).toMatchObject({ status: 500, body: { code: 'api_error' } });
      expect(await redeem('e2')).toMatchObject({ status: 500, body: { code: 'api_error' } });
      [answer, asked] = [redeemed, site];
      expect(await redeem('e1')).toMatchObject({ status: 200, body: { confirmationCode: 'AAAA' } });
      expect(await redeem('e1')).toMatchObject({ status: 200 });
      const [first, second, other, again, next] = keys();
      expect(first).toMatch(/^site-[\w-]{36}$/);
      expect([second, again]).toEqual([first, first]);
      expect(new Set([first, other, next]).size).toBe(3);
    },
  );

  it('is settled by a no, and forgotten after a day', async () => {
    const { basic } = await site.person();
    const redeem = () => site.post('/wp-json/rewards/v1/redeem', { perkId: 'e1' }, basic);
    answer = { status: 400, body: '{"error":"Sold out"}' };
    await redeem();
    answer = 'broken';
    await redeem();
    site.clock.advance(24 * 3_600_000);
    await redeem();
    expect(new Set(keys()).size).toBe(3);
  });
});

it('the debug log keeps the last 500 lines, and nothing while it is off', async () => {
  const { plugin } = site.site;
  await Promise.all(
    Array.from({ length: 510 }, () => plugin.fire('comment_posted', { email: 'ada@mail.example' })),
  );
  expect(plugin.debugLog()).toHaveLength(500);
  plugin.settings.save({ debugLogging: false });
  const [last] = plugin.debugLog();
  await plugin.fire('comment_posted', { email: 'nobody@mail.example' });
  plugin.settings.save({ debugLogging: true });
  expect(plugin.debugLog()[0]).toEqual(last);
});

const ownHooks = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ hook: `moon_${n}`, eventName: 'howl', enabled: true }));

it('a hook of any other name sends its events when it is fired, up to 20 of them', async () => {
  const { plugin } = site.site;
  expect(plugin.settings.save({ events: ownHooks(20) })).toEqual([]);
  const calls = await plugin.fire('moon_19', { email: 'ada@mail.example', metadata: { phase: 'full' } });
  const nothing = await plugin.fire('moon_20', { email: 'ada@mail.example' });
  plugin.settings.save({ events: [...defaultEvents] });
  expect([calls.map(({ eventName }) => eventName), nothing]).toEqual([['howl'], []]);
});

describe('settings', () => {
  it.each([
    [{ brandId: 'demo' }, 'brandId'],
    [{ brandId: null }, 'brandId'],
    [{ eventHandlerUrl: 'javascript:alert(1)' }, 'eventHandlerUrl'],
    [{ servicesUrl: 'https://user:pass@services.example' }, 'servicesUrl'],
    [{ servicesUrl: 'https://services.example/?a=b' }, 'servicesUrl'],
    [{ domain: 'https://shop.example' }, 'domain'],
    [{ apiKey: 'rk\r\nHost: evil' }, 'apiKey'],
    [{ events: [{ hook: 'Full moon', eventName: 'howl', enabled: true }] }, 'events.0.hook'],
    [{ events: [{ hook: 'x'.repeat(65), eventName: 'howl', enabled: true }] }, 'events.0.hook'],
    [{ events: [{ hook: 'constructor.x', eventName: 'howl', enabled: true }] }, 'events.0.hook'],
    [{ events: ownHooks(21) }, 'events'],
    [{ events: [{ hook: 'login', eventName: 'x', enabled: true, fromPages: 'yes' }] }, 'events.0.fromPages'],
    [{ events: [{ hook: 'login', eventName: '', enabled: true }] }, 'events.0.eventName'],
    [{ events: [defaultEvents[0], defaultEvents[0]] }, 'events'],
    [{ debugLogging: 'yes' }, 'debugLogging'],
    ['text', ''],
  ])('%j is refused with what, why and how to mend it, and nothing is saved', (wanted, field) => {
    const before = site.site.plugin.settings.read();
    const problems = site.site.plugin.settings.save(
      typeof wanted === 'object' ? { domain: 'other.example', ...wanted } : wanted,
    );
    expect(problems).toMatchObject([{ field, message: expect.any(String), fix: expect.any(String) }]);
    expect(site.site.plugin.settings.read()).toEqual(before);
  });
});
