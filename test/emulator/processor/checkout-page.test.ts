/** The hosted checkout page in a real browser: paid by keyboard, declined, left, too late, and attacked. */
import type { BrowserContext, Page } from 'playwright-core';
import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../kits/service/service.ts';
import { browserMissing, startBrowser, startPages } from '../../kits/site/browser.ts';
import { violationsOn } from '../../kits/site/readable.ts';
import { purchase, stripeOf } from './stripe-kit.ts';

const NARROW = 320;

describe.skipIf(browserMissing() !== undefined)('the checkout page', { timeout: 60_000 }, () => {
  let stack: TestService;
  let stripe: Stripe;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  /** The shop, and a page of somebody else that pays a checkout as soon as it is opened. */
  let pages: Awaited<ReturnType<typeof startPages>>;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    stack = await startTestService();
    stripe = stripeOf(stack.ready);
    browser = await startBrowser({ hosts: ['shop.example', 'evil.example'] });
    pages = await startPages(({ pathname, searchParams }) => ({
      html:
        pathname === '/attack'
          ? `<form method="post" action="${searchParams.get('pay')}"><button>Win</button></form>`
          : `<title>${pathname}</title>`,
    }));
    ({ context } = await browser.visitor());
    page = await context.newPage();
  });
  afterAll(async () => {
    await browser?.stop();
    await pages?.stop();
    await stack?.stop();
  });

  const open = async (change: Partial<Stripe.Checkout.SessionCreateParams> = {}) => {
    const session = await stripe.checkout.sessions.create(
      purchase({
        success_url: pages.at('shop.example', '/thanks?session={CHECKOUT_SESSION_ID}'),
        cancel_url: pages.at('shop.example', '/cart'),
        ...change,
      }),
    );
    return { id: session.id, url: session.url ?? '' };
  };
  const step = (id: string, verb: string, wish: object = {}) =>
    stack.control(`/processor/sessions/${id}/${verb}`, wish);
  const state = async (id: string) => {
    const { status, payment_status: payment } = await stripe.checkout.sessions.retrieve(id);
    return [status, payment];
  };
  const focused = () =>
    page.evaluate<string>('document.activeElement.value ?? document.activeElement.textContent');

  test('is paid with the keyboard alone, and leads to the shop with the session', async () => {
    const { id, url } = await open();
    await page.goto(url);
    expect(await page.title()).toBe('Pay $5.00');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('card');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(pages.at('shop.example', `/thanks?session=${id}`));
    expect(await state(id)).toEqual(['complete', 'paid']);
  });

  test('works without script', async () => {
    const { id, url } = await open();
    const { context: plain } = await browser.visitor();
    const other = await plain.browser()?.newContext({ javaScriptEnabled: false });
    const bare = await other?.newPage();
    await bare?.goto(url);
    await bare?.getByRole('button', { name: 'Pay $5.00' }).click();
    await bare?.waitForURL(/\/thanks\?session=cs_test_/);
    expect(await state(id)).toEqual(['complete', 'paid']);
    await other?.close();
    await plain.close();
  });

  test('says that a card was declined, and takes another one', async () => {
    const { id, url } = await open();
    await page.goto(url);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('Your card has insufficient funds.');
    expect(await page.title()).toBe('Payment declined – Pay $5.00');
    expect(await state(id)).toEqual(['open', 'unpaid']);
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.waitForURL(/\/thanks/);
    expect(await state(id)).toEqual(['complete', 'paid']);
  });

  test('leads back to the shop without a payment', async () => {
    const { id, url } = await open();
    await page.goto(url);
    await page.getByRole('link', { name: 'Cancel and go back' }).click();
    await page.waitForURL(pages.at('shop.example', '/cart'));
    expect(await state(id)).toEqual(['open', 'unpaid']);
  });

  test('asks for the e-mail that the shop did not give', async () => {
    const { id, url } = await open({ customer_email: undefined });
    await page.goto(url);
    await page.getByLabel('E-mail').fill('carol@demo.example');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/thanks/);
    const { customer_details: details } = await stripe.checkout.sessions.retrieve(id);
    expect(details?.email).toBe('carol@demo.example');
  });

  test('tells a payment that is on its way, and later that it has arrived', async () => {
    const { id, url } = await open();
    await page.goto(url);
    await page.getByLabel('Bank debit').check();
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.waitForURL(/\/thanks/);
    await page.goto(url);
    expect(await page.getByRole('heading').textContent()).toBe('Payment on its way');
    await stack.advance('61s');
    await page.goto(url);
    expect(await page.getByRole('heading').textContent()).toBe('Paid');
    expect(await state(id)).toEqual(['complete', 'paid']);
  });

  test('can be paid no more after a day, nor a second time', async () => {
    const late = await open();
    await page.goto(late.url);
    await stack.advance('24h');
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('heading', { name: 'This checkout has expired' }).waitFor();
    expect(await state(late.id)).toEqual(['expired', 'unpaid']);
    const twice = await open();
    await page.goto(twice.url);
    await step(twice.id, 'pay');
    await page.getByRole('button', { name: 'Pay' }).click();
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await page.waitForURL(pages.at('shop.example', `/thanks?session=${twice.id}`));
  });

  test('takes no form of another site', async () => {
    const { id, url } = await open();
    await page.goto(pages.at('evil.example', `/attack?pay=${encodeURIComponent(url)}`));
    await page.getByRole('button', { name: 'Win' }).click();
    await page.getByRole('heading', { name: 'Not accepted' }).waitFor();
    const foreign = await fetch(url, { method: 'POST', headers: { origin: 'http://evil.example' } });
    expect(foreign.status).toBe(403);
    expect(await state(id)).toEqual(['open', 'unpaid']);
  });

  test('shows what a shop wrote as text, whatever it is', async () => {
    const name = `"><script>document.title='hacked'</script><img src=x onerror="document.title='hacked'">`;
    const { context: visitor, errors } = await browser.visitor();
    const other = await visitor.newPage();
    const { url } = await open({
      line_items: [
        { quantity: 3, price_data: { currency: 'eur', unit_amount: 100, product_data: { name } } },
      ],
      customer_email: '"<b>x</b>"@demo.example',
    });
    await other.goto(url);
    expect(await other.title()).toBe('Pay €3.00');
    expect(await other.getByRole('heading').textContent()).toBe(name);
    expect(await other.evaluate('document.querySelectorAll("script, img, b b").length')).toBe(0);
    expect(errors).toEqual([]);
    await visitor.close();
  });

  test('of no session says so', async () => {
    const answer = await page.goto(`${stack.ready.processor.url}/_pay/cs_test_none`);
    expect(answer?.status()).toBe(404);
    expect(await page.getByRole('heading').textContent()).toBe('Checkout not found');
  });

  test.each<[string, () => Promise<string>]>([
    ['open', async () => (await open()).url],
    ['without an e-mail', async () => (await open({ customer_email: undefined })).url],
    ['declined', () => after('decline')],
    ['paid', () => after('pay')],
    ['expired', () => after('expire')],
  ])('%s is readable for everybody, in light and dark, on the narrowest screen', async (_, addressOf) => {
    await page.goto(await addressOf());
    expect(await violationsOn(page)).toEqual([]);
    await page.setViewportSize({ width: NARROW, height: 600 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  const after = async (verb: string) => {
    const { id, url } = await open();
    await step(id, verb);
    return url;
  };
});
