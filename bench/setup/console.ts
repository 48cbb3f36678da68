/** The console of a stack as people have it open: pages in a real Chromium, and streams of changes like tabs of other browsers. */
import { existsSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';

const PROGRAMS = [process.env.REWARDS_TEST_CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** Where Chromium is; undefined where there is none. */
export const chromiumPath = (): string | undefined =>
  PROGRAMS.find((path) => path !== '' && existsSync(path));

/** The control host, and the token that opens it. */
export interface ControlHost {
  url: string;
  token: string;
}

/** Tabs of other browsers: each a connection of its own that is told of changes. */
export async function openStreams({ url, token }: ControlHost, count: number) {
  const entered = await fetch(`${url}?token=${token}`, { redirect: 'manual' });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const streams = await Promise.all(
    Array.from({ length: count }, () => openStream(`${url}/console/live`, cookie)),
  );
  return {
    /** Those that are open still and were told of something. */
    alive: () => streams.filter(({ told, ended }) => told() > 0 && !ended()).length,
    close() {
      for (const { close } of streams) close();
    },
  };
}

async function openStream(url: string, cookie: string) {
  let changes = 0;
  let isOver = false;
  const asked = get(url, { headers: { cookie }, agent: false });
  const over = () => {
    isOver = true;
  };
  asked.on('error', over).on('close', over);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject);
  });
  if (answer.statusCode !== 200)
    throw new Error(`a stream of changes was answered with ${answer.statusCode}`);
  answer.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes('event: changed')) changes++;
  });
  return { told: () => changes, ended: () => isOver, close: () => asked.destroy() };
}

const VIEWPORT = { width: 1_280, height: 900 };

export type Browser = Awaited<ReturnType<typeof startBrowser>>;

/** Chromium, which opens pages of one console. */
export async function startBrowser(executablePath: string, { url, token }: ControlHost) {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  return {
    /** Pages of one visitor, each in a tab; paths are below the console's. */
    async open(paths: string[]) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      await context.addInitScript(SAYS_WHEN_SHOWN);
      const pages: Page[] = [];
      for (const path of paths) {
        const page = await context.newPage();
        await page.goto(`${url}${path}?token=${token}`);
        pages.push(page);
      }
      return { pages, close: () => context.close() };
    },
    /** Tabs that show nothing. Returns what closes them. */
    async openBlank(count: number) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      for (let number = 0; number < count; number++) await context.newPage();
      return () => context.close();
    },
    stop: () => browser.close(),
  };
}

/** How many milliseconds lie between a click and the picture of what it led to, be that in this document or in another one. */
const SAYS_WHEN_SHOWN = `{
  const shown = () => setTimeout(() => {
    globalThis.shownAfterMs = Date.now() - Number(sessionStorage.getItem('clickedAt'));
  });
  const look = (former) =>
    requestAnimationFrame(() => (document.querySelector('main') === former ? look(former) : shown()));
  addEventListener('click', () => {
    sessionStorage.setItem('clickedAt', String(Date.now()));
    look(document.querySelector('main'));
  }, true);
  addEventListener('DOMContentLoaded', () => requestAnimationFrame(shown));
}`;

/** Some half a minute. */
const LOOKS_MAX = 3_000;

/** Clicks what leads to another page. Returns after how many milliseconds that was shown, as the page itself sees it. */
export async function clickThrough(page: Page, selector: string): Promise<number> {
  // A click as the page gets it: how long a driver looks for the place to click is not the console's time.
  const click = `document.querySelector(${JSON.stringify(selector)}).click()`;
  await page.evaluate(`globalThis.shownAfterMs = undefined; ${click}`).catch(() => undefined);
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const shown = await page.evaluate<number | null>('globalThis.shownAfterMs ?? null').catch(() => null);
    if (shown !== null) return shown;
    await delay(10);
  }
  throw new Error(`a click on ${selector} led to nothing`);
}

/** What the scripts of a page hold after a collection, in KB, their documents included. */
export async function heapKb(page: Page): Promise<number> {
  const session = await (page.context() as BrowserContext).newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize, embedderHeapUsedSize } = (await session.send('Runtime.getHeapUsage')) as {
    usedSize: number;
    embedderHeapUsedSize?: number;
  };
  await session.detach();
  return (usedSize + (embedderHeapUsedSize ?? 0)) / 1_024;
}
