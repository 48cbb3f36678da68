/** A checkout from its beginning to the RWT that it bought: the service, the page, the events, the chain. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../kits/service/clock.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';
import { browserMissing, startBrowser, startPages } from '../../kits/site/browser.ts';

describe.skipIf(browserMissing() !== undefined)('a checkout', { timeout: 60_000 }, () => {
  let stack: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let shop: Awaited<ReturnType<typeof startPages>>;
  beforeAll(async () => {
    stack = await startTestService();
    browser = await startBrowser({ hosts: [] });
    shop = await startPages(({ pathname }) => ({ html: `<title>${pathname}</title>` }));
  });
  afterAll(async () => {
    await browser?.stop();
    await shop?.stop();
    await stack?.stop();
  });

  /** Begun by a brand's server, paid with the keyboard on the page. */
  async function payWithKeyboard(amount: number): Promise<string> {
    const { body } = await stack.post('/rewards-api/create-checkout', {
      brandId: stack.brand.brandId,
      amount,
      userEmail: 'alice@demo.example',
      successUrl: shop.at('127.0.0.1', '/thanks?session={CHECKOUT_SESSION_ID}'),
      cancelUrl: shop.at('127.0.0.1', '/cart'),
    });
    expect(body).toMatchObject({ success: true, checkoutUrl: expect.stringContaining('/_pay/cs_test_') });
    const { context } = await browser.visitor();
    const page = await context.newPage();
    await page.goto(body.checkoutUrl);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(shop.at('127.0.0.1', `/thanks?session=${body.sessionId}`));
    await context.close();
    return body.sessionId;
  }

  test('that is paid with the keyboard mints 1000 RWT a dollar to the wallet of the brand, once', async () => {
    const { brandId } = stack.brand;
    const before = await stack.balanceOf(brandId);
    const sessionId = await payWithKeyboard(525);
    await until('the RWT is there', async () => (await stack.balanceOf(brandId)) === before + 5_250n);
    const again = await stack.post('/rewards-api/payment-mint', { sessionId });
    expect(again).toMatchObject({
      status: 200,
      body: { success: true, alreadyProcessed: true, rwtAmount: 5_250, usdAmount: 5.25 },
    });
    expect(await stack.balanceOf(brandId)).toBe(before + 5_250n);
    const { events } = (
      await stack.request(`${stack.ready.urls.control}/processor/events?object=${sessionId}`)
    ).body;
    await until('the event is delivered', async () => {
      const path = `${stack.ready.urls.control}/processor/deliveries?event=${events[0].id}`;
      return (await stack.request(path)).body.deliveries[0].state === 'delivered';
    });
  });

  test('of a brand that wishes so mints into its escrow', async () => {
    const { brandId } = stack.brand;
    expect((await stack.change(`/brands/${brandId}`, { mintTo: 'escrow' })).status).toBe(200);
    const before = await stack.escrowOf(brandId);
    await payWithKeyboard(1_000);
    await until('the escrow has it', async () => (await stack.escrowOf(brandId)) === before + 10_000n);
  });
});
