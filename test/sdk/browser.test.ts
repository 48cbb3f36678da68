/** The client script in a real browser, on pages of a brand, against a real service and chain. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../kits/service/clock.ts';
import { browserMissing } from '../kits/site/browser.ts';
import { aWhile, heard, openShop } from './shop.ts';

declare const Rewards: import('../../src/sdk/sdk.ts').RewardsApi;

const missing = browserMissing();
/** False, too, while a block comes between the two things that `paid` reads. */
const isPaid = (paid: () => Promise<number[]>) => () =>
  paid().then(
    (amounts) => amounts.length > 0,
    () => false,
  );

// At once: each test has a visitor and a user of its own, and waits most of its time.
describe.skipIf(missing)('a page of the brand', { concurrent: true }, () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  describe('its address', () => {
    test('fits a pattern: one reward, and none more when it is loaded again', async () => {
      const { email, paid, query } = await shop.user();
      const { page, sent, errors } = await shop.visit();
      await page.goto(shop.at(`/thanks/17?${query}&secret=s3cret&title=Thanks`));
      const [[occasion, eventType, answer] = []] = await heard(page, 1);
      expect([occasion, eventType, answer]).toMatchObject([
        'reward',
        'custom_thanks',
        { success: true, httpStatus: 200, rewardAmount: 11 },
      ]);
      expect(await paid()).toEqual([11]);

      await page.reload();
      await page.goto(shop.at('/plain'));
      await page.goBack();
      await aWhile();
      expect(sent).toHaveLength(1);
      expect(sent[0]?.key).toMatch(/^[0-9a-f]{32}$/);
      expect(sent[0]?.body).toEqual({
        brandId: shop.service.brand.brandId,
        eventType: 'custom_thanks',
        userEmail: email,
        domain: 'shop.demo.example',
        sourceUrl: shop.at('/thanks/17'),
        metadata: { detection_method: 'url_pattern', page_title: 'Thanks' },
      });
      expect(await paid()).toEqual([11]);
      expect(errors).toEqual([]);
    });

    test('fits no pattern: nothing is sent', async () => {
      const { query, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at(`/products?next=/thanks&${query}`));
      await aWhile();
      expect(sent).toEqual([]);
      expect(await paid()).toEqual([]);
    });

    test('changes without a page being loaded, as on single-page sites', async () => {
      const { query, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at(`/app?${query}`));
      await page.waitForFunction(() => 'track' in Rewards);
      await aWhile();
      expect(sent).toEqual([]);
      await page.evaluate(() => history.pushState({ kept: true }, '', '/app/done/1'));
      await heard(page, 1);
      expect(await page.evaluate(() => history.state)).toEqual({ kept: true });
      await page.evaluate(() => history.pushState(null, '', '/app/other'));
      await page.evaluate(() => history.back());
      await page.evaluate(() => history.replaceState(null, '', '/app/done/1'));
      await aWhile();
      expect(sent).toHaveLength(1);
      expect(await paid()).toEqual([12]);
    });

    test('waits until it is known who the user is', async () => {
      const { email, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at('/thanks'));
      await page.waitForFunction(() => 'track' in Rewards);
      await aWhile();
      expect(sent).toEqual([]);
      await page.evaluate((user) => Rewards.identify(user), email);
      await heard(page, 1);
      expect(await paid()).toEqual([11]);

      // Remembered on later pages, until the user signs out.
      await page.goto(shop.at('/thanks/again'));
      const [[occasion] = []] = await heard(page, 1);
      expect(occasion).toBe('refused');
      await page.evaluate(() => Rewards.identify(null));
      await page.goto(shop.at('/thanks/nobody'));
      await aWhile();
      expect(sent).toHaveLength(2);
    });
  });

  describe('a form', () => {
    test.each([
      ['to another page', '/form'],
      ['to another site', '/form-elsewhere'],
      ['to another page before the service is reached', '/form?script=slow'],
      ['to another site before the service is reached', '/form-elsewhere?script=slow'],
    ])('that leads %s: one reward', async (_name, path) => {
      const { email, paid } = await shop.user();
      const { page, errors } = await shop.visit();
      await page.goto(shop.at(path), { waitUntil: 'networkidle' });
      await page.fill('input', email);
      await page.click('button');
      await page.waitForURL('**/plain');
      await until('the payment', isPaid(paid));
      expect(await paid()).toEqual([13]);
      expect(errors).toEqual([]);
    });

    test('whose answer comes too late for its page: the next page hears of it, one reward', async () => {
      const { email, paid } = await shop.user();
      const { page, sent, errors } = await shop.visit();
      await page.goto(shop.at('/form-here?script=slow'), { waitUntil: 'networkidle' });
      await page.fill('input', email);
      await page.click('button');
      await page.waitForURL('**/after?*');
      const [[occasion, , answer] = []] = await heard(page, 1);
      expect([occasion, answer]).toMatchObject(['reward', { success: true, rewardAmount: 13 }]);
      expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
      expect(await paid()).toEqual([13]);
      expect(errors).toEqual([]);
    });

    test('that the page sends by script, clicked twice: one reward', async () => {
      const { email, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at('/form-script'), { waitUntil: 'networkidle' });
      await page.fill('input', email);
      await page.dblclick('button');
      const [[, , answer] = []] = await heard(page, 1);
      expect(answer).toMatchObject({ success: true, rewardAmount: 13 });
      expect(sent).toHaveLength(1);
      expect(await paid()).toEqual([13]);
    });

    test('for searching counts for nothing', async () => {
      const { email, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at('/form-search'), { waitUntil: 'networkidle' });
      await page.fill('input', email);
      await page.click('button');
      await aWhile();
      expect(sent).toEqual([]);
      expect(await paid()).toEqual([]);
    });

    test('whose success shows on the next page is paid there', async () => {
      const { email, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at('/welcome'), { waitUntil: 'networkidle' });
      await page.goto(shop.at('/sign-up'), { waitUntil: 'networkidle' });
      await page.fill('input', email);
      expect(sent).toEqual([]);
      await page.click('button');
      await page.waitForURL('**/welcome');
      await heard(page, 1);
      await page.reload();
      await aWhile();
      expect(sent).toHaveLength(1);
      expect(await paid()).toEqual([16]);
    });
  });

  describe('an element', () => {
    test('that appears later is noticed once, and invalid selectors do no harm', async () => {
      const { query, paid } = await shop.user();
      const { page, sent, errors } = await shop.visit();
      await page.goto(shop.at(`/order?${query}`), { waitUntil: 'networkidle' });
      await aWhile();
      // It is there, but hidden.
      expect(sent).toEqual([]);
      await page.evaluate(() => document.querySelector('.order-ok')?.removeAttribute('style'));
      await heard(page, 1);
      await page.evaluate(() => document.body.append('more', document.createElement('hr')));
      await page.evaluate(() => history.pushState(null, '', '/elsewhere'));
      await aWhile();
      expect(sent.map(({ body }) => body.metadata)).toMatchObject([{ detection_method: 'success_selector' }]);
      expect(await paid()).toEqual([14]);
      expect(errors).toEqual([]);
    });

    test('counts on the pages that the event names, and only there', async () => {
      const { query, paid } = await shop.user();
      const { page } = await shop.visit();
      const show = () =>
        page.evaluate(() => {
          const element = Object.assign(document.createElement('p'), {
            className: 'ok',
            textContent: 'Done',
          });
          document.body.append(element);
        });
      await page.goto(shop.at(`/neither?${query}`), { waitUntil: 'networkidle' });
      await show();
      await page.goto(shop.at(`/both?${query}`), { waitUntil: 'networkidle' });
      await aWhile();
      expect(await paid()).toEqual([]);
      await show();
      await heard(page, 1);
      expect(await paid()).toEqual([15]);
    });
  });

  describe('Rewards.track', () => {
    test('resolves with the answer, reward or refusal', async () => {
      const { email, paid } = await shop.user();
      const { page } = await shop.visit();
      await page.goto(shop.at('/'));
      await page.waitForFunction(() => 'track' in Rewards);
      const track = (user: string) =>
        page.evaluate((to) => Rewards.track('custom_once', { email: to, metadata: { order: 17 } }), user);
      expect(await track(email)).toMatchObject({ success: true, httpStatus: 200, rewardAmount: 18 });
      expect(await track(email)).toMatchObject({ success: false, httpStatus: 409 });
      expect(await track('no e-mail')).toMatchObject({ success: false, httpStatus: 400 });
      expect((await heard(page, 3)).map(([occasion]) => occasion)).toEqual(['reward', 'refused', 'refused']);
      expect(await paid()).toEqual([18]);
    });

    test('without an e-mail says so, and sends nothing', async () => {
      const { page, sent } = await shop.visit();
      await page.goto(shop.at('/'));
      await page.waitForFunction(() => 'track' in Rewards);
      const answer = await page.evaluate(() => Rewards.track('custom_tracked'));
      expect(answer).toMatchObject({ success: false, httpStatus: 0, error: expect.stringMatching(/e-mail/) });
      expect(sent).toEqual([]);
    });

    test('takes metadata that is meant to do harm as plain text', async () => {
      const { email, paid } = await shop.user();
      const { page, sent, errors } = await shop.visit();
      const attack = '</title><img src=x onerror="globalThis.hacked = 1">';
      await page.goto(
        shop.at(`/?title=${encodeURIComponent('&lt;script>globalThis.hacked = 1&lt;/script>')}`),
      );
      await page.waitForFunction(() => 'track' in Rewards);
      const answer = await page.evaluate(
        ([to, bad]) =>
          Rewards.track('custom_tracked', { email: to, metadata: { [`${bad}`]: bad, nested: [bad] } }),
        [email, attack],
      );
      expect(answer).toMatchObject({ success: true });
      const polluting = await page.evaluate((to) => {
        const metadata = JSON.parse('{"__proto__": {"polluted": 1}}');
        return Rewards.track('custom_tracked', { email: to, metadata });
      }, email);
      expect(polluting).toMatchObject({ success: false, httpStatus: 400 });
      const circular = await page.evaluate((to) => {
        const metadata: Record<string, unknown> = {};
        metadata.self = metadata;
        return Rewards.track('custom_tracked', { email: to, metadata });
      }, email);
      expect(circular).toMatchObject({ success: false, httpStatus: 0 });
      expect(await page.evaluate(() => 'hacked' in globalThis || 'polluted' in {})).toBe(false);
      expect(sent).toHaveLength(2);
      expect(await paid()).toEqual([17]);
      expect(errors).toEqual([]);
    });
  });

  describe('the script', () => {
    test('works when it is on the page three times: one reward, one global', async () => {
      const { query, paid } = await shop.user();
      const { page, sent } = await shop.visit();
      await page.goto(shop.at('/plain'));
      const before = await page.evaluate(() => Object.keys(globalThis));
      await page.goto(shop.at(`/thanks?script=twice&${query}`), { waitUntil: 'networkidle' });
      await heard(page, 1);
      await aWhile();
      expect(sent).toHaveLength(1);
      expect(await paid()).toEqual([11]);
      const after = await page.evaluate(() => Object.keys(globalThis));
      expect(after.filter((name) => !before.includes(name)).sort()).toEqual(['Rewards', 'heardSoFar']);
    });

    test('works as a module', async () => {
      const { query, paid } = await shop.user();
      const { page } = await shop.visit();
      await page.goto(shop.at(`/thanks?script=module&${query}`));
      await heard(page, 1);
      expect(await paid()).toEqual([11]);
    });

    test('runs the calls that the page had queued, and lives with their mistakes', async () => {
      const { email, paid } = await shop.user();
      const { page, errors } = await shop.visit((context) =>
        context.addInitScript((to) => {
          const calls = [
            ['identify', to],
            ['nonsense'],
            null,
            ['track', 'custom_tracked', { metadata: { a: 1 } }],
          ];
          Object.assign(globalThis, { Rewards: calls });
        }, email),
      );
      await page.goto(shop.at('/'));
      await until('the payment', isPaid(paid));
      expect(await paid()).toEqual([17]);
      expect(errors).toHaveLength(1);
    });
  });
});
