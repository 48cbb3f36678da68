/** Payments and webhooks in the console: from a payment to its transaction, deliveries, signatures, what strangers send. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from '../kits/network/receivers.ts';
import { until } from '../kits/service/clock.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { openConsole, overflowOf } from '../kits/site/console.ts';
import { violationsOn } from '../kits/site/readable.ts';

const HOSTILE = '<img src=x onerror=alert(1)>\u202e\u001b[31m';
const HOSTILE_SHOWN = '<img src=x onerror=alert(1)>‹U+202E›‹U+001B›[31m';

describe.skipIf(browserMissing() !== undefined)('money in the console', () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeAll(async () => {
    [service, receiver] = await Promise.all([
      startTestService(),
      startReceiver((request, response) =>
        request.url === '/hostile' ? response.writeHead(500).end(HOSTILE) : response.writeHead(200).end('ok'),
      ),
    ]);
    browser = await startBrowser({ hosts: [] });
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
    await receiver?.stop();
  });

  const open = (path: string) => openConsole(browser, service.ready, `/console${path}`);
  const read = async (path: string) => (await service.request(`${service.ready.urls.control}${path}`)).body;
  const begin = async (user: string) =>
    (await service.control('/processor/sessions', { user, amount: 500 })).body;
  const addEndpoint = async (path: string) =>
    (
      await service.control('/webhooks/endpoints', {
        brand: service.brand.domain,
        url: `http://127.0.0.1:${receiver.port}${path}`,
      })
    ).body as { id: string; secret: string };
  const remove = (id: string) =>
    service.request(`${service.ready.urls.control}/webhooks/endpoints/${id}`, { method: 'DELETE' });
  /** The id of the event that an endpoint was told of a new reward. */
  const toldOf = async (endpointId: string) => {
    const { body } = await service.event({ userEmail: someone() });
    const path = `/webhooks/deliveries?endpoint=${endpointId}&subject=${body.eventId}`;
    await until('an attempt was made', async () => (await read(path)).deliveries[0]?.attempts > 0);
    return (await read(path)).deliveries[0].eventId as string;
  };

  test('pages of nothing say so', async () => {
    const { page, close } = await open('/payments');
    await page.getByText('No payment yet.').waitFor();
    await page.goto(`${service.ready.urls.control}/console/webhooks`);
    await page.getByText('Nothing was told yet.').waitFor();
    await page.getByText('none yet', { exact: true }).waitFor();
    await page.goto(`${service.ready.urls.control}/console/webhooks/inbox`);
    await page.getByText('Nothing came yet.').waitFor();
    await close();
  });

  test('a payment, its mint and its transaction are seen live, and lead on', async () => {
    const user = someone();
    const { id } = await begin(user);
    const { page, errors, close } = await open(`/payments?user=${user.toUpperCase()}`);
    await page.getByRole('cell', { name: user }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByText(`rewards checkout list --user ${user.toUpperCase()}`).waitFor();
    await page.getByRole('link', { name: /^cs_test_/ }).click();
    await page.getByText('nothing was minted yet').waitFor();
    await service.control(`/processor/sessions/${id}/decline`, { code: 'insufficient_funds' });
    await page.getByText('a card was declined').waitFor();
    await service.control(`/processor/sessions/${id}/pay`, {});
    await page.locator('#session').getByText('minted', { exact: true }).waitFor();
    await page.locator('#webhooks').getByText('payment.minted').waitFor();
    const { transactionHash } = await read(`/mints/${id}`);
    const link = page.locator('#session a', { hasText: transactionHash.slice(0, 10) });
    expect(await link.getAttribute('href')).toBe(`/_rewards/console/chain/transactions/${transactionHash}`);
    await link.click();
    await page.waitForURL(/chain\/transactions/);
    expect(errors).toEqual([]);
    await close();
  });

  test('each step of a payment is a button, with the command that does the same', async () => {
    const { id } = await begin(someone());
    const { page, close } = await open(`/payments/${id}`);
    await page.getByText(`rewards checkout pay ${id}`, { exact: true }).waitFor();
    const decline = page.locator('form', { has: page.getByRole('button', { name: 'Decline', exact: true }) });
    await decline.getByRole('combobox').selectOption('expired_card');
    await decline.getByText(`rewards checkout decline ${id} --code expired_card`).waitFor();
    await decline.getByRole('button', { name: 'Decline', exact: true }).click();
    await page.locator('#happened').getByText('a card was declined').waitFor();
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByLabel('cents').fill('200');
    await page
      .getByText(`rewards checkout refund ${id} --amount 200 --reason requested_by_customer`)
      .waitFor();
    await page.getByRole('button', { name: 'Give back', exact: true }).click();
    await page.getByText('200 of 500 given back').waitFor();
    await page.getByRole('button', { name: 'Dispute', exact: true }).click();
    await page.locator('#session').getByText('disputed').waitFor();
    await page.locator('#happened').getByText('disputed by the buyer’s bank').waitFor();
    await page.locator('#events').getByText('charge.refunded').waitFor();
    const other = await begin(someone());
    await page.goto(`${service.ready.urls.control}/console/payments/${other.id}`);
    await page.getByRole('button', { name: 'Let it expire' }).click();
    await page.getByText('Nothing more happens to it.').waitFor();
    await close();
  });

  test('Replay shows a second attempt, and the receiver has the event twice', async () => {
    const endpoint = await addEndpoint('/again');
    const event = await toldOf(endpoint.id);
    const { page, close } = await open(`/webhooks/${event}`);
    const attempts = page.getByRole('region', { name: `Attempts at ${endpoint.id}` }).locator('tbody tr');
    expect(await attempts.count()).toBe(1);
    await page.getByText(`rewards webhooks deliveries replay ${event}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await attempts.nth(1).waitFor();
    const ids = receiver.received
      .filter(({ path }) => path === '/again')
      .map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([event, event]);
    await remove(endpoint.id);
    await close();
  });

  test('what is shown as signed has the shown signatures, and no page has the secret', async () => {
    const endpoint = await addEndpoint('/signed');
    const event = await toldOf(endpoint.id);
    const { page, close } = await open(`/webhooks/${event}`);
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    const signed = async (header: string) =>
      (await page.getByRole('region', { name: `What ${header} signs at ${endpoint.id}` }).textContent()) ??
      '';
    const came = receiver.received.find(({ path }) => path === '/signed')?.headers;
    const hex = (text: string) => createHmac('sha256', endpoint.secret).update(text).digest('hex');
    const key = Buffer.from(endpoint.secret.replace('whsec_', ''), 'base64');
    const bare = hex(await signed('X-Service-Signature'));
    const timestamped = await signed('X-Service-Signature-Timestamped');
    const standard = await signed('webhook-signature');
    const expected = {
      'x-service-signature': bare,
      'x-service-signature-timestamped': `t=${timestamped.split('.')[0]},v1=${hex(timestamped)}`,
      'webhook-signature': `v1,${createHmac('sha256', key).update(standard).digest('base64')}`,
    };
    expect(came).toMatchObject(expected);
    const values = await page.getByRole('definition').allInnerTexts();
    expect(values).toEqual(expect.arrayContaining(Object.values(expected)));
    expect(standard.startsWith(`${event}.${timestamped.split('.')[0]}.`)).toBe(true);
    await page.getByText('5m before and after').first().waitFor();
    expect(await page.content()).not.toContain(endpoint.secret.slice(6));
    // A verifier that looks years later refuses what has a timestamp, and says why.
    await page.getByLabel('verified at').fill('2050-01-01T00:00:00Z');
    await page.keyboard.press('Enter');
    await page.waitForURL(/at=2050/);
    const verdicts = page.getByRole('region', { name: `Signatures for ${endpoint.id}` });
    expect(await verdicts.getByText('timestamp', { exact: true }).count()).toBe(2);
    await page.goto(`${service.ready.urls.control}/console/webhooks/${event}?at=yesterday`);
    await page.getByText('2030-01-01T00:00:00Z').waitFor();
    await remove(endpoint.id);
    await close();
  });

  test('an endpoint is turned off and on, and gets a new secret that is shown once', async () => {
    const endpoint = await addEndpoint('/settings');
    await toldOf(endpoint.id);
    const { page, close } = await open('/webhooks');
    await page.locator(`#endpoints a[href$="${endpoint.id}"]`).click();
    await page.locator('#health').getByText('takes them').waitFor();
    await page.locator('#health').getByText('1 delivered').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.locator('#health').getByText('by hand').waitFor();
    await service.event({ userEmail: someone() });
    await page.locator('#health').getByText('1 delivered, 1 held').waitFor();
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('button', { name: 'Send what it missed' }).click();
    await page.locator('#health').getByText('2 delivered').waitFor();
    page.on('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Make a new secret' }).click();
    await page.locator('output').getByText('whsec_').waitFor();
    await page.reload();
    await page.getByText('two, until').waitFor();
    expect(await page.content()).not.toContain('whsec_');
    await remove(endpoint.id);
    await close();
  });

  test('what receivers answer and strangers post is text: markup, escapes and marks of direction', async () => {
    const endpoint = await addEndpoint('/hostile');
    const event = await toldOf(endpoint.id);
    await service.request(`${service.ready.urls.control}/inbox`, { method: 'POST', body: HOSTILE });
    const { page, errors, close } = await open(`/webhooks/${event}`);
    let asked = false;
    page.on('dialog', () => {
      asked = true;
    });
    await page.getByText(HOSTILE_SHOWN).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    await page.goto(`${service.ready.urls.control}/console/webhooks/inbox`);
    await page.locator('tbody tr', { hasText: 'no event' }).locator('summary').click();
    await page.getByText(HOSTILE_SHOWN).waitFor();
    expect(await page.locator('img').count()).toBe(0);
    // What nobody signed leads nowhere.
    expect(await page.locator('tbody tr', { hasText: 'no event' }).locator('a').count()).toBe(0);
    expect(await violationsOn(page)).toEqual([]);
    expect([asked, errors]).toEqual([false, []]);
    await remove(endpoint.id);
    await close();
  });

  test('a request leads to the webhooks that it caused', async () => {
    const sent = await service.event({ userEmail: someone() });
    const { page, close } = await open(`/requests/${sent.headers.get('x-request-id')}`);
    const link = page.locator('#webhooks').getByRole('link', { name: /^evt_/ });
    await link.first().click();
    await page.getByRole('heading', { name: 'reward.distributed' }).waitFor();
    await page.getByText(sent.body.transactionHash).first().waitFor();
    await close();
  });

  test('long lists show a part, and more when asked', { timeout: 60_000 }, async () => {
    const { brandId, domain } = service.brand;
    const events = Array.from({ length: 60 }, () => ({
      brandId,
      domain,
      eventType: 'account_creation',
      userEmail: someone(),
    }));
    await service.post('/rewards-api/bulk-events', { events }, { 'x-api-key': service.brand.apiKey });
    const user = someone();
    for (let count = 0; count < 51; count++) await begin(user);
    await service.atRest();
    const { page, close } = await open('/webhooks');
    for (const [path, name] of [
      ['/webhooks?type=reward.distributed&state=delivered', 'Deliveries'],
      ['/webhooks/inbox', 'Inbox'],
      [`/payments?user=${user}`, 'Sessions'],
    ]) {
      await page.goto(`${service.ready.urls.control}/console${path}`);
      const rows = page.locator(`section[aria-label=${name}] > table > tbody > tr`);
      expect([path, await rows.count()]).toEqual([path, 50]);
      expect([path, await overflowOf(page)]).toEqual([path, 0]);
      await page.getByRole('link', { name: 'Show more' }).click();
      await page.waitForURL(/limit=\d+/);
      expect([path, (await rows.count()) > 50]).toEqual([path, true]);
    }
    await close();
  });
});
