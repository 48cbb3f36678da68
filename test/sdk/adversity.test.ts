/** The client script where things go wrong: no storage, no network, no permission. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../kits/service/clock.ts';
import { browserMissing } from '../kits/site/browser.ts';
import { aWhile, heard, openShop } from './shop.ts';

declare const Rewards: import('../../src/sdk/sdk.ts').RewardsApi;

const missing = browserMissing();

// At once: each test has a visitor and a user of its own, and waits most of its time.
describe.skipIf(missing)('a page of the brand', { concurrent: true }, () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  test('that may store nothing still gets its reward, once', async () => {
    const { query, paid } = await shop.user();
    const { page, sent, errors } = await shop.visit((context) =>
      context.addInitScript(() => {
        for (const name of ['localStorage', 'sessionStorage']) {
          const get = () => {
            throw new DOMException('The operation is insecure.', 'SecurityError');
          };
          Object.defineProperty(globalThis, name, { get });
        }
      }),
    );
    await page.goto(shop.at(`/thanks?${query}`));
    await heard(page, 1);
    await page.evaluate(() => history.pushState(null, '', `${location.href}#again`));
    await aWhile();
    expect(sent).toHaveLength(1);
    expect(await paid()).toEqual([11]);
    expect(errors).toEqual([]);
  });

  test('whose storage is full still gets its reward, once', async () => {
    const { query, paid } = await shop.user();
    const { page, sent, errors } = await shop.visit((context) =>
      context.addInitScript(() => {
        Storage.prototype.setItem = () => {
          throw new DOMException('full', 'QuotaExceededError');
        };
      }),
    );
    await page.goto(shop.at(`/thanks?${query}`));
    await heard(page, 1);
    await page.evaluate(() => history.pushState(null, '', `${location.href}#again`));
    await aWhile();
    expect(sent).toHaveLength(1);
    expect(await paid()).toEqual([11]);
    expect(errors).toEqual([]);
  });

  test('that is offline sends its event when it is online again', async () => {
    const { email, paid } = await shop.user();
    const { context, page, sent, errors } = await shop.visit();
    await page.goto(shop.at('/'), { waitUntil: 'networkidle' });
    await context.setOffline(true);
    await page.evaluate((to) => void Rewards.track('custom_tracked', { email: to }), email);
    await aWhile();
    expect(sent).toEqual([]);
    expect(await paid()).toEqual([]);
    await context.setOffline(false);
    const [[occasion] = []] = await heard(page, 1);
    expect(occasion).toBe('reward');
    expect(sent).toHaveLength(1);
    expect(await paid()).toEqual([17]);
    expect(errors).toEqual([]);
  });

  test('that is left while offline has its event sent by the next page', { timeout: 90_000 }, async () => {
    const { email, paid } = await shop.user();
    const { context, page } = await shop.visit();
    // A page without the script, which sees what the browser itself has been told to store.
    const witness = await context.newPage();
    await witness.goto(shop.at('/plain'));
    await page.goto(shop.at('/'), { waitUntil: 'networkidle' });
    await context.setOffline(true);
    await page.evaluate((to) => void Rewards.track('custom_tracked', { email: to }), email);
    // The promise rests on the stored letter: written by the page, handed to the browser, and not being sent just now.
    const letters = () =>
      witness.evaluate(() =>
        Object.entries(localStorage)
          .filter(([key]) => key.includes('.out.'))
          .map(([, text]) => JSON.parse(text)),
      );
    await until('the letter to rest', async () =>
      (await letters()).some(({ busyUntilMs }) => busyUntilMs === 0),
    );
    expect(await letters()).toMatchObject([{ busyUntilMs: 0 }]);
    // Going elsewhere, and only then closing: a tab that is closed is let online for its last moment, and tries again.
    await page.goto('about:blank');
    await page.close();
    await context.setOffline(false);
    const next = await context.newPage();
    await next.goto(shop.at('/'));
    // A page that was cut off in the middle of a try keeps the next one waiting until that try must be over.
    const [[occasion, eventType] = []] = await heard(next, 1, 60_000);
    expect([occasion, eventType]).toEqual(['reward', 'custom_tracked']);
    await next.reload();
    await aWhile();
    expect(await paid()).toEqual([17]);
  });

  test('in two tabs, of which both send the event when they are online again, is paid once', async () => {
    const { email, paid } = await shop.user();
    const { context, page, sent } = await shop.visit();
    const other = await context.newPage();
    for (const tab of [page, other]) await tab.goto(shop.at('/'), { waitUntil: 'networkidle' });
    await context.setOffline(true);
    await page.evaluate((to) => void Rewards.track('custom_tracked', { email: to }), email);
    await context.setOffline(false);
    await heard(page, 1);
    await aWhile();
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    expect(await paid()).toEqual([17]);
  });

  test('that never hears the answer asks again under the same key, and is paid once', async () => {
    const { email, paid } = await shop.user();
    const { context, page, sent } = await shop.visit();
    let lost = 0;
    await context.route('**/manual-event', async (route) => {
      if (route.request().method() !== 'POST' || lost > 0) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort('connectionreset');
    });
    await page.goto(shop.at('/'), { waitUntil: 'networkidle' });
    const answer = await page.evaluate((to) => Rewards.track('custom_tracked', { email: to }), email);
    expect(answer).toMatchObject({ success: true, rewardAmount: 17 });
    expect(lost).toBe(1);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    expect(await paid()).toEqual([17]);
  });

  test('that is refused does not ask again, whatever the reason', async () => {
    const { email } = await shop.user();
    const { context, page, sent } = await shop.visit();
    let status = 0;
    await context.route('**/manual-event', (route) =>
      route.fulfill({
        status,
        json: { success: false, error: 'No' },
        headers: {
          'access-control-allow-origin': new URL(shop.at('/')).origin,
          'access-control-allow-headers': 'content-type, idempotency-key',
        },
      }),
    );
    await page.goto(shop.at('/'), { waitUntil: 'networkidle' });
    for (status of [429, 409, 400, 403, 500]) {
      const answer = await page.evaluate((to) => Rewards.track('custom_tracked', { email: to }), email);
      expect(answer).toEqual({ success: false, httpStatus: status, error: 'No' });
    }
    const occasions = (await heard(page, 5)).map(([occasion]) => occasion);
    expect(occasions).toEqual(['refused', 'refused', 'refused', 'refused', 'error']);
    await page.reload();
    await aWhile();
    await aWhile();
    expect(sent).toHaveLength(5);
  });

  test.each([
    ['a policy that forbids the connection', "connect-src 'none'"],
    ['a policy that forbids the script', "script-src 'unsafe-inline'"],
  ])('with %s is left in peace', async (_name, csp) => {
    const { query, paid } = await shop.user();
    const { page, errors } = await shop.visit();
    await page.goto(shop.at(`/thanks?${query}&csp=${encodeURIComponent(csp)}`));
    await aWhile();
    expect(errors).toEqual([]);
    expect(await paid()).toEqual([]);
  });

  test('whose extensions block the service is left in peace', async () => {
    const { query, paid } = await shop.user();
    const { page, errors } = await shop.visit((context) =>
      context.route('**/rewards-api/**', (route) => route.abort('blockedbyclient')),
    );
    await page.goto(shop.at(`/thanks?${query}`));
    await aWhile();
    expect(errors).toEqual([]);
    expect(await paid()).toEqual([]);
  });
});

describe.skipIf(missing)('a page of somebody else', { concurrent: true }, () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  test.each(['evil.example', 'demo.example.evil.example', 'notdemo.example'])(
    'at %s may not read the answers, and nothing is paid (contract: CORS)',
    async (host) => {
      const { email, query, paid } = await shop.user();
      const { page, errors } = await shop.visit();
      await page.goto(shop.at(`/thanks?${query}`, host));
      await page.waitForFunction(() => 'track' in Rewards);
      await page.evaluate((to) => void Rewards.track('custom_tracked', { email: to }), email);

      const endpoint = `${shop.service.ready.urls.events}/rewards-api/manual-event`;
      const { brandId, domain } = shop.service.brand;
      const body = JSON.stringify({ brandId, domain, eventType: 'custom_tracked', userEmail: email });
      const byHand = (init: RequestInit) =>
        page.evaluate(
          ([url, request]) =>
            fetch(url, request).then(
              (response) => response.type,
              () => 'refused by the browser',
            ),
          [endpoint, { method: 'POST', body, ...init }] as const,
        );
      const json = { 'Content-Type': 'application/json' };
      expect(await byHand({ headers: json })).toBe('refused by the browser');
      expect(await byHand({ headers: json, credentials: 'include' })).toBe('refused by the browser');
      // This one is sent, unread: the service itself says no.
      expect(await byHand({ mode: 'no-cors' })).toBe('opaque');
      await aWhile();
      expect(await page.evaluate(() => globalThis.heardSoFar)).toEqual([]);
      expect(await paid()).toEqual([]);
      expect(errors).toEqual([]);
    },
  );
});
