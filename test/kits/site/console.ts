/** The console of a stack in a browser: opened by the banner's link, as a developer does. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Ready } from '../../../src/stack/ready.ts';
import type { startBrowser } from './browser.ts';

type Browser = Awaited<ReturnType<typeof startBrowser>>;

/** Widths and schemes that every page is looked at in. */
export const looks: readonly (BrowserContextOptions & { name: string })[] = [
  { name: 'narrow', viewport: { width: 360, height: 740 } },
  { name: 'wide', viewport: { width: 1_280, height: 900 } },
  { name: 'dark', viewport: { width: 1_280, height: 900 }, colorScheme: 'dark' },
];

/** A visitor of the console who may read and act; `path` is below `/_rewards`. */
export async function openConsole(
  browser: Browser,
  ready: Pick<Ready, 'urls' | 'controlToken'>,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<{ page: Page; errors: Error[]; close: () => Promise<void> }> {
  const { context, errors } = await browser.visitor({ viewport: { width: 1_280, height: 900 }, ...options });
  const page = await context.newPage();
  await page.goto(`${ready.urls.control}${path}${path.includes('?') ? '&' : '?'}token=${ready.controlToken}`);
  return { page, errors, close: () => context.close() };
}

/** By how many pixels a page is wider than its window: nobody should have to scroll sideways. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
