/** Takes pictures of pages with the Chromium of the tests. */
import { chromium } from 'playwright-core';

export const openBrowser = () =>
  chromium.launch({
    executablePath: process.env.REWARDS_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });

/** The page in both colours, side by side: as a browser draws it in the light, and in the dark. */
export async function inBothColours(url, viewport, { prepare = async () => {} } = {}) {
  const { width, height } = viewport;
  const browser = await openBrowser();
  try {
    const shots = [];
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ colorScheme, viewport, reducedMotion: 'reduce' });
      await page.goto(url);
      await prepare(page);
      shots.push((await page.screenshot()).toString('base64'));
    }
    const both = await browser.newPage({ viewport: { width: 2 * width, height } });
    const image = (shot) => `<img width="${width}" height="${height}" src="data:image/png;base64,${shot}">`;
    await both.setContent(`<body style="margin:0;display:flex">${shots.map(image).join('')}</body>`);
    return await both.screenshot();
  } finally {
    await browser.close();
  }
}
