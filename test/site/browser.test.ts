/** The demo site in a real browser: with script and without, with a keyboard, in light and dark, on a telephone. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../kits/service/service.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { violationsOn } from '../kits/site/readable.ts';
import { textOf } from '../kits/site/site-visitor.ts';

/** Narrower than any telephone that is sold. */
const NARROW = 320;
const TIMEOUT = { timeout: 120_000 };

describe.skipIf(browserMissing() !== undefined)('the demo site in a browser', () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let url: string;
  beforeAll(async () => {
    // At noon: no day ends between a check-in and what is seen of it.
    service = await startTestService({ clockStartMs: Date.UTC(2031, 0, 15, 12) });
    browser = await startBrowser({ hosts: [] });
    url = service.ready.urls.site;
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  /** A page of a visitor's own; `who` is logged in. */
  async function open(who?: string, options: Parameters<typeof browser.visitor>[0] = {}) {
    const { context, errors } = await browser.visitor(options);
    const page = await context.newPage();
    // Without script, a form leads to a new page; what does not is found at once.
    page.setDefaultTimeout(20_000);
    const documents: string[] = [];
    page.on('request', (request) => request.isNavigationRequest() && documents.push(request.url()));
    const go = (path: string) => page.goto(url + path);
    if (who) {
      const user = service.ready.users.find(({ login }) => login === who);
      await go('/login');
      await page.fill('#login', who);
      await page.fill('#password', user?.password ?? '');
      await page.click('main button[type=submit]');
      await page.waitForURL(`${url}/dashboard`);
    }
    return { context, page, errors, documents, go };
  }
  const streakOf = async (page: Page) => textOf(await page.innerHTML('[id^=rewards-] .rw-figure'));
  const said = (page: Page) => page.textContent('#notice');

  it('a check-in changes the streak and the page says so, without a reload', TIMEOUT, async () => {
    const { context, page, errors, documents, go } = await open('alice');
    await go('/dashboard?tab=streak');
    expect(await streakOf(page)).toBe('0 days in a row');
    documents.length = 0;
    await page.focus('text=Check in for today');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=✓ Checked in today.');
    expect(await said(page)).toBe('Checked in: day 1 in a row, +10 RWT.');
    expect(await streakOf(page)).toBe('1 day in a row');
    expect(await page.getAttribute('#notice', 'role')).toBe('status');
    // Where the button was, the keyboard goes on.
    expect(await page.evaluate('document.activeElement.id')).toBe('rewards-dashboard-streak');
    expect([documents, errors]).toEqual([[], []]);
    await context.close();
  });

  it('without script the same button leads back with the same words', TIMEOUT, async () => {
    const { context, page, go } = await open('bob', { javaScriptEnabled: false });
    await go('/dashboard?tab=streak');
    expect(await streakOf(page)).toBe('0 days in a row');
    await page.click('text=Check in for today');
    await page.waitForSelector('text=✓ Checked in today.');
    expect(page.url()).toBe(`${url}/dashboard?tab=streak`);
    expect(await said(page)).toBe('Checked in: day 1 in a row, +10 RWT.');
    expect(await streakOf(page)).toBe('1 day in a row');
    await context.close();
  });

  it('opens each tab of the dashboard', TIMEOUT, async () => {
    const { context, page, errors } = await open('alice');
    for (const tab of ['Streak', 'Leaderboard', 'Perks', 'Achievements', 'Balance']) {
      await page.click(`.rw-tabs >> text=${tab}`);
      await page.waitForURL(`**/dashboard?tab=${tab.toLowerCase()}`);
      expect(await page.textContent('.rw-tabs [aria-current]')).toBe(tab);
      expect(await page.textContent('.rw h2')).toMatch(/streak|RWT earned|Perks|achievements|balance/);
      expect(await page.textContent('.rw')).not.toContain('does not answer');
    }
    expect(errors).toEqual([]);
    await context.close();
  });

  it('redeems a perk: a code, and less to spend', TIMEOUT, async () => {
    await service.event({ userEmail: 'alice@demo.example', eventType: 'referral' });
    const { context, page, errors, documents, go } = await open('alice');
    await go('/dashboard?tab=perks');
    const having = async () => Number(/([\d,]+) RWT/.exec((await page.textContent('.rw p')) ?? '')?.[1]);
    const before = await having();
    documents.length = 0;
    await page.click('text=Redeem Ten percent off');
    await page.waitForSelector('#notice:has-text("is yours")');
    expect(await said(page)).toMatch(/^Ten percent off is yours\. Your code: [\w-]{6,}$/);
    // By its text: a function that the page evaluates again and again is what its policy forbids.
    await expect.poll(having).toBe(before - 250);
    expect([documents, errors]).toEqual([[], []]);
    await context.close();
  });

  it('a guest shares with an e-mail in a dialog, and is rewarded without a reload', TIMEOUT, async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { context, page, errors, documents, go } = await open(undefined, { permissions });
    await go('/posts/a-mug-for-the-windowsill');
    documents.length = 0;
    await page.click('.rewards-share');
    await page.waitForSelector('dialog[open]');
    expect(await page.evaluate('document.activeElement.id')).toBe('share-email');
    await page.click('dialog >> text=Copy the link');
    await page.waitForSelector('dialog >> text=Link copied.');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `${url}/posts/a-mug-for-the-windowsill`,
    );
    await page.fill('#share-email', 'guest@people.example');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog >> text=Thank you for sharing. You earned 15 RWT.');
    await page.fill('#share-email', 'guest@people.example');
    await page.click('text=Share and earn');
    await page.waitForSelector('dialog .notice.bad');
    await page.keyboard.press('Escape');
    expect(await page.isVisible('dialog')).toBe(false);
    expect([documents, errors]).toEqual([[], []]);
    await context.close();
  });

  it('without script the share button leads to a page that does it', TIMEOUT, async () => {
    const { context, page, go } = await open(undefined, { javaScriptEnabled: false });
    await go('/posts/a-mug-for-the-windowsill');
    await page.click('.rewards-share');
    await page.waitForSelector('h1:has-text("Share this page")');
    expect(await page.textContent('main .mono')).toBe(`${url}/posts/a-mug-for-the-windowsill`);
    await page.fill('#email', 'quiet@people.example');
    await page.click('text=I shared it');
    await page.waitForSelector('text=Thank you for sharing. You earned 15 RWT.');
    await context.close();
  });

  it(
    'an administrator passes the connection test, and fails it with a wrong event name',
    TIMEOUT,
    async () => {
      const { context, page, go } = await open('carol');
      await go('/admin/settings');
      const test = async (eventName: string) => {
        await page.fill('#testEmail', 'tester@people.example');
        await page.fill('#testEvent', eventName);
        await page.click('text=Send a test event');
        await page.waitForSelector('#notice:has-text("Connection test")');
        return said(page);
      };
      expect(await test('form_submit')).toMatch(/^Connection test passed \(HTTP 200\)/);
      expect(await test('Form_Submit')).toMatch(
        /^Connection test failed \(HTTP 400\).*Form_Submit must match it/,
      );
      expect(await page.getAttribute('#notice', 'class')).toBe('notice bad');
      await context.close();
    },
  );

  it('settings are saved, events added and removed, and the log shows what is sent', TIMEOUT, async () => {
    const { context, page, go } = await open('carol');
    await go('/admin/settings');
    const rows = await page.locator('.events-table tbody tr').count();
    await page.check('text=Write a debug log');
    await page.fill(`[name=own-${rows - 1}]`, 'booking_completed');
    await page.check(`[name=pages-${rows - 1}]`);
    await page.fill(`[name=event-${rows - 1}]`, 'form_submit');
    await page.click('text=Save settings');
    await page.waitForSelector('#notice:has-text("Saved.")');
    expect(await page.locator('.events-table tbody tr').count()).toBe(rows + 1);
    expect(await page.inputValue(`[name=own-${rows - 1}]`)).toBe('booking_completed');
    expect(await page.isChecked(`[name=pages-${rows - 1}]`)).toBe(true);
    await page.fill(`[name=event-${rows - 1}]`, '');
    await page.fill('#brandId', 'nonsense');
    await page.click('text=Save settings');
    await page.waitForSelector('text=Nothing was saved.');
    expect(await page.getAttribute('#brandId', 'aria-invalid')).toBe('true');
    await page.fill('#brandId', service.brand.brandId);
    await page.click('text=Save settings');
    await page.waitForSelector('#notice:has-text("Saved.")');
    expect(await page.locator('.events-table tbody tr').count()).toBe(rows);
    await go('/dashboard');
    await go('/admin/settings');
    expect(await page.textContent('.log')).toContain('balance of carol@demo.example: 200');
    await context.close();
  });

  const paths = [
    ...[
      '/',
      '/posts/points-for-showing-up',
      '/posts/a-mug-for-the-windowsill',
      '/shop',
      '/leaderboard',
      '/perks',
    ],
    ...['balance', 'streak', 'leaderboard', 'perks', 'achievements'].map((tab) => `/dashboard?tab=${tab}`),
    ...['/profile', '/admin/settings', '/admin/posts', '/share?url=%2Fsite%2Fshop', '/nothing'],
  ];
  it('every page can be read by everybody, in light and dark, and fits a telephone', TIMEOUT, async () => {
    const visits = [
      {
        who: undefined,
        paths: ['/', '/posts/points-for-showing-up', '/dashboard', '/perks', '/login', '/register'],
      },
      { who: 'carol', paths },
    ];
    const found: unknown[] = [];
    for (const { who, paths: some } of visits) {
      const { context, page, errors, go } = await open(who);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      for (const path of some) {
        await page.setViewportSize({ width: 1180, height: 800 });
        await go(path);
        found.push(...(await violationsOn(page)).map((one) => `${path} ${one}`));
        await page.setViewportSize({ width: NARROW, height: 640 });
        const width = await page.evaluate('document.documentElement.scrollWidth');
        if (Number(width) > NARROW) found.push(`${path} is ${width} wide`);
      }
      expect(asked.filter((one) => !one.startsWith(url) && !one.startsWith('data:'))).toEqual([]);
      expect(errors).toEqual([]);
      await context.close();
    }
    expect(found).toEqual([]);
  });

  it('the longest name fits a telephone, too', TIMEOUT, async () => {
    const { context, page, go } = await open(undefined, { viewport: { width: NARROW, height: 640 } });
    await go('/register');
    await page.fill('#email', `${'w'.repeat(60)}@people.example`);
    await page.fill('#login', 'w'.repeat(40));
    await page.fill('#displayName', 'W'.repeat(60));
    await page.fill('#password', 'a sentence is better');
    await page.click('main button[type=submit]');
    await page.waitForURL(`${url}/dashboard`);
    for (const path of ['/', '/posts/points-for-showing-up', '/leaderboard', '/profile', '/dashboard']) {
      await go(path);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(NARROW);
    }
    await context.close();
  });

  it('the share dialog can be read by everybody, too', TIMEOUT, async () => {
    const { context, page, go } = await open();
    await go('/posts/a-mug-for-the-windowsill');
    await page.click('.rewards-share');
    await page.waitForSelector('dialog[open]');
    expect(await violationsOn(page)).toEqual([]);
    await context.close();
  });

  it('on the seventh day the milestone is claimed, once', TIMEOUT, async () => {
    const { context, page, errors, go } = await open('carol');
    for (let day = 1; day <= 7; day += 1) {
      if (day > 1) await service.advance('24h');
      await go('/dashboard?tab=streak');
      await page.click('text=Check in for today');
      await page.waitForSelector('text=✓ Checked in today.');
      expect(await streakOf(page)).toBe(`${day} ${day === 1 ? 'day' : 'days'} in a row`);
    }
    expect(await page.textContent('.rw-pill')).toBe('points × 1.25');
    await page.click('text=Claim 100 RWT');
    await page.waitForSelector('#notice:has-text("+100 RWT for 7 days in a row.")');
    await page.waitForSelector('.rw-claim', { state: 'detached' });
    expect(await page.textContent('.rw')).toContain('23 more days to a bonus of 500 RWT');
    expect(errors).toEqual([]);
    await context.close();
  });
});
