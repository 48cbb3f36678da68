/** The AJAX action, the connection test and the plugin's hooks in front of a real service. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultEvents } from '../../src/site/plugin/plugin-settings.ts';
import { someone, type TestService } from '../kits/service/service.ts';
import { startSiteAndService, type TestSite } from '../kits/site/site.ts';

const path = '/wp-admin/admin-ajax.php';
let service: TestService;
let site: TestSite;

beforeAll(async () => {
  ({ service, site } = await startSiteAndService({ events: [...defaultEvents] }));
});
beforeEach(() => site.clock.advance(25 * 3_600_000));
afterAll(async () => {
  await site?.stop();
  await service?.stop();
});

const share = { action: 'rewards_custom_event', event_name: 'social_share' };
/** A guest's browser with the cookie that a page of the site gives it. */
function guest() {
  const { caller, cookie } = site.site.accounts.welcome(new Request(site.url));
  return {
    nonce: site.site.accounts.nonceFor(caller, 'ajax'),
    headers: { cookie: cookie?.split(';')[0] ?? '' },
  };
}
const seen = ({ status, body }: { status: number; body: unknown }) => ({ status, body });
const no = (status: number, code: string, message: unknown = expect.any(String)) => ({
  status,
  body: { success: false, data: { code, message } },
});

describe('the AJAX action', () => {
  it('rewards the share of a guest who names an e-mail, as JSON and as a form', async () => {
    const { nonce, headers } = guest();
    const asJson = await site.post(
      path,
      { ...share, nonce, email: someone(), metadata: { url: '/a' } },
      headers,
    );
    const wanted = {
      status: 200,
      body: { success: true, data: { message: expect.any(String), reward: 15 } },
    };
    expect(seen(asJson)).toEqual(wanted);
    const fields = { ...share, nonce, email: someone(), metadata: '{"url":"/a"}' };
    const form = await site.request(path, { method: 'POST', headers, body: new URLSearchParams(fields) });
    expect(seen(form)).toEqual(wanted);
    const multipart = new FormData();
    for (const [name, value] of Object.entries({ ...fields, email: someone() })) multipart.set(name, value);
    expect(seen(await site.request(path, { method: 'POST', headers, body: multipart }))).toEqual(wanted);
  });

  it("rewards the share of a user, whose e-mail need not be named, and passes the service's no on", async () => {
    const person = await site.person();
    const { cookie, nonce } = await site.browser(person);
    const send = () => site.post(path, { ...share, nonce: nonce('ajax') }, { cookie });
    expect(await send()).toMatchObject({ status: 200, body: { data: { reward: 15 } } });
    await service.advance('2m');
    expect(seen(await send())).toEqual(no(429, 'event_failed'));
  });

  it('is for events that the settings open to pages', async () => {
    const { nonce, headers } = guest();
    for (const event_name of ['purchase', 'Social_share', 'referral'])
      expect(seen(await site.post(path, { ...share, event_name, nonce, email: someone() }, headers))).toEqual(
        no(400, 'event_not_allowed', expect.stringContaining(`the event ${event_name}`)),
      );
  });

  it('refuses what lacks a nonce, an event, an e-mail or an object of metadata', async () => {
    const { nonce, headers } = guest();
    const email = someone();
    const send = async (fields: object, also: Record<string, string> = headers) =>
      seen(await site.post(path, { ...share, nonce, email, ...fields }, also));
    expect(await send({ nonce: undefined })).toEqual(no(403, 'bad_nonce'));
    expect(await send({ nonce: 'a'.repeat(32) })).toEqual(no(403, 'bad_nonce'));
    expect(await send({ nonce: guest().nonce })).toEqual(no(403, 'bad_nonce'));
    expect(await send({}, {})).toEqual(no(403, 'bad_nonce'));
    expect(await send({}, { ...headers, origin: 'https://evil.example' })).toEqual(no(403, 'bad_nonce'));
    expect(await send({ event_name: '' })).toEqual(no(400, 'missing_event_name'));
    for (const wrong of [undefined, '', 'ada', 'ada@', 7, `${'a'.repeat(250)}@mail.example`])
      expect(await send({ email: wrong })).toEqual(no(400, 'invalid_email'));
    for (const wrong of ['{', '[]', [1], 7])
      expect(await send({ metadata: wrong })).toEqual(no(400, 'invalid_metadata'));
    expect(await send({ action: 'delete_everything' })).toEqual(no(400, 'unknown_action'));
  });
});

describe('the connection test', () => {
  const test = (eventName: string, email = someone()) =>
    site.site.plugin.testConnection({ email, eventName });
  const withSettings = async <Value>(settings: object, work: () => Promise<Value>): Promise<Value> => {
    const before = site.site.plugin.settings.read();
    expect(site.site.plugin.settings.save(settings)).toEqual([]);
    return work().finally(() => site.site.plugin.settings.save(before));
  };

  it('says that the connection works, also where this user may not have the event now', async () => {
    const email = someone();
    expect(await test('social_share', email)).toMatchObject({
      success: true,
      status: 200,
      message: expect.stringContaining('The connection works.'),
    });
    expect(await test('social_share', email)).toMatchObject({
      success: false,
      message: expect.stringContaining('The connection works; this user'),
    });
  });

  it.each([
    ['a name in another case', {}, 'Social_Share', 400, /upper and lower case/],
    [
      'a domain that is not the brand’s',
      { domain: 'www.elsewhere.example' },
      'social_share',
      403,
      /www\.elsewhere\.example is not configured for the brand: it must match .* exactly/,
    ],
    ['another brand', { brandId: `0x${'12'.repeat(20)}` }, 'social_share', 400, /Copy the Brand ID/],
    [
      'an address where nobody listens',
      { eventHandlerUrl: 'http://127.0.0.1:1' },
      'social_share',
      0,
      /Nothing answered at http:\/\/127\.0\.0\.1:1/,
    ],
    ['no brand', { brandId: '' }, 'social_share', 0, /not configured: set the Brand ID/],
  ])('fails with %s, and says what to do', async (_, settings, eventName, status, message) => {
    expect(await withSettings(settings, () => test(eventName))).toEqual({
      eventName,
      success: false,
      status,
      message: expect.stringMatching(message),
      ...(status === 0 && 'brandId' in settings && { code: 'not_configured' }),
    });
  });
});

describe('AJAX on a site whose service is away, or that is not configured', () => {
  it.each([
    [{ eventHandlerUrl: 'http://127.0.0.1:1' }, 'api_error'],
    [{ brandId: '' }, 'not_configured'],
  ])('answers 500 with %j: %s', async (settings, code) => {
    const before = site.site.plugin.settings.read();
    site.site.plugin.settings.save(settings);
    const { nonce, headers } = guest();
    const answer = await site.post(path, { ...share, nonce, email: someone() }, headers);
    site.site.plugin.settings.save(before);
    expect(seen(answer)).toEqual(no(500, code));
  });
});

it('what a page says decides neither whether an event pays nor how much', async () => {
  const on = [...defaultEvents, { hook: 'share' as const, eventName: 'purchase', enabled: true }];
  site.site.plugin.settings.save({ events: on, apiKey: service.brand.apiKey });
  const { nonce, headers } = guest();
  const email = someone();
  const metadata = { order_total: 500, source: 'voice_claim', skip_cooldown: true };
  const send = (event_name: string) =>
    site.post(path, { ...share, event_name, nonce, email, metadata }, headers);
  expect((await send('purchase')).body.data.reward).toBe(1);
  expect((await send('social_share')).body.data.reward).toBe(15);
  await service.advance('2m');
  expect((await send('social_share')).status).toBe(429);
  site.site.plugin.settings.save({ events: [...defaultEvents], apiKey: '' });
});

it('an event of a hook of its own is sent by pages only where the settings say so', async () => {
  const own = { hook: 'quiz_passed', eventName: 'social_share', enabled: true };
  const { nonce, headers } = guest();
  const send = () => site.post(path, { ...share, nonce, email: someone() }, headers);
  site.site.plugin.settings.save({ events: [own] });
  expect(seen(await send())).toEqual(no(400, 'event_not_allowed'));
  site.site.plugin.settings.save({ events: [{ ...own, fromPages: true }] });
  expect((await send()).body.data.reward).toBe(15);
  site.site.plugin.settings.save({ events: [{ ...own, fromPages: true, enabled: false }] });
  expect(seen(await send())).toEqual(no(400, 'event_not_allowed'));
  site.site.plugin.settings.save({ events: [...defaultEvents] });
});

it('a daily visit pays once in 24 hours', async () => {
  const { email } = await site.person();
  const visit = () => site.site.plugin.fire('page_load', { email });
  expect(await visit()).toMatchObject([{ eventName: 'daily_visit', success: true, reward: 5 }]);
  expect(await visit()).toEqual([]);
  site.clock.advance(24 * 3_600_000);
  await service.advance('24h');
  expect(await visit()).toMatchObject([{ success: true, reward: 5 }]);
  const { body } = await service.request(
    `/rewards-api/user-balance?brandId=${service.brand.brandId}&userEmail=${email}`,
  );
  expect(body.balance).toBe(10);
});
