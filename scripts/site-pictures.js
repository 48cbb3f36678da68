/** Pictures of the demo site for docs/images: visits it in a browser, as a member and as its administrator. */
import { writeFile } from 'node:fs/promises';
import { openBrowser } from './browser-pictures.js';

const DAYS = 4;

/** `site`: the address; `nextDay`: moves the stack's clock; `images`: where the pictures go. */
export async function drawSite({ site, nextDay, images }) {
  const browser = await openBrowser();
  const draw = async (page, name, options = {}) =>
    writeFile(new URL(`site-${name}.png`, images), await page.screenshot(options));
  const enter = async (login, options = {}) => {
    const viewport = { width: 1_080, height: 760 };
    const page = await browser.newPage({
      viewport,
      colorScheme: 'light',
      reducedMotion: 'reduce',
      ...options,
    });
    await page.goto(`${site}/login`);
    await page.fill('#login', login);
    await page.fill('#password', `${login}-in-demo`);
    await page.click('main button[type=submit]');
    await page.waitForURL(`${site}/dashboard`);
    return page;
  };
  try {
    for (let day = 0; day < DAYS; day += 1) {
      for (const login of day === 0 ? ['alice', 'bob', 'carol'] : ['alice']) {
        const page = await enter(login);
        await page.goto(`${site}/dashboard?tab=streak`);
        await page.click('text=Check in for today');
        await page.waitForSelector('text=✓ Checked in today.');
        if (day === DAYS - 1) await draw(page, 'streak');
        await page.close();
      }
      if (day < DAYS - 1) await nextDay();
    }
    const home = await browser.newPage({ viewport: { width: 1_080, height: 760 } });
    await home.goto(`${site}/`);
    await draw(home, 'home');
    const perks = await enter('alice', { colorScheme: 'dark' });
    await perks.goto(`${site}/perks`);
    await draw(perks, 'perks');
    const settings = await enter('carol');
    await settings.goto(`${site}/admin/settings`);
    await settings.fill('#testEmail', 'dora@demo.example');
    await settings.fill('#testEvent', 'form_submit');
    await settings.click('text=Send a test event');
    await settings.waitForSelector('#notice:has-text("Connection test")');
    await draw(settings, 'settings', { fullPage: true });
  } finally {
    await browser.close();
  }
}
