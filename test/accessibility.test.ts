/** Every page of the program in a real browser: for readers with a keyboard, with poor sight, with a small screen. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RelayReport } from '../src/load/relay-report.ts';
import { reportHtml } from '../src/load/report-html.ts';
import { startTestService, type TestService } from './kits/service/service.ts';
import { browserMissing, startBrowser } from './kits/site/browser.ts';
import { violationsOn } from './kits/site/readable.ts';

/** Narrower than any telephone that is sold. */
const NARROW = 320;

describe.skipIf(browserMissing() !== undefined)('pages', () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let folder: string;
  beforeAll(async () => {
    service = await startTestService();
    browser = await startBrowser({ hosts: [] });
    folder = await mkdtemp(join(tmpdir(), 'rewards-pages-'));
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const report = async (change: Partial<RelayReport>) => {
    const wish = { users: 2, perUser: 2, oneAddress: false, checkReset: false };
    const about = { title: 'Relay', made: '2030-01-01' };
    const path = join(folder, `${Object.keys(change).join('-')}.html`);
    await writeFile(path, reportHtml({ ...emptyReport(wish), ...change }, about));
    return `file://${path}`;
  };
  const pages: [string, () => Promise<string>][] = [
    ['the reference', async () => `${service.ready.urls.events}/docs`],
    ['the reference of the relay', async () => `${service.ready.urls.events}/docs/relay`],
    ['the reference of registrations', async () => `${service.ready.urls.events}/docs/register`],
    ['the reference of the control API', async () => `${service.ready.urls.control}/docs`],
    ['a report without faults', () => report({ failed: 0 })],
    [
      'a report with faults',
      () => report({ overAdmission: 3, failed: 2, failures: { '500 internal_error': 2 } }),
    ],
  ];

  test.each(pages)(
    '%s can be read by everybody, in light and dark',
    { timeout: 60_000 },
    async (_, addressOf) => {
      const { context, errors } = await browser.visitor();
      const page = await context.newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      const address = await addressOf();
      await page.goto(address);
      expect(await violationsOn(page)).toEqual([]);
      expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([address]);
      expect(errors).toEqual([]);
      await context.close();
    },
  );

  test.each(pages)('%s has no side scroll on a narrow screen', { timeout: 60_000 }, async (_, addressOf) => {
    const { context } = await browser.visitor();
    const page = await context.newPage();
    await page.setViewportSize({ width: NARROW, height: 600 });
    await page.goto(await addressOf());
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW);
    await context.close();
  });

  test('boxes that scroll by themselves are reached by keyboard, and tables have heads', async () => {
    const { context } = await browser.visitor();
    const page = await context.newPage();
    await page.setViewportSize({ width: NARROW, height: 600 });
    for (const host of ['', '/relay', '/register']) {
      await page.goto(`${service.ready.urls.events}/docs${host}`);
      const boxes = "[...document.querySelectorAll('pre, .wide')]";
      expect(await page.evaluate(`${boxes}.length`)).toBeGreaterThan(3);
      expect(await page.evaluate(`${boxes}.filter((box) => box.tabIndex < 0).length`)).toBe(0);
      expect(
        await page.evaluate(
          "[...document.querySelectorAll('th')].filter((th) => !th.textContent.trim()).length",
        ),
      ).toBe(0);
    }
    await context.close();
  });
});

/** What a run without a single call would say. */
const emptyReport = (wish: {
  users: number;
  perUser: number;
  oneAddress: boolean;
  checkReset: boolean;
}): RelayReport => {
  const latency = { p50: 1, p90: 2, p95: 3, p99: 3, max: 4, mean: 2 };
  return {
    ...wish,
    ...{ sent: 4, admitted: 4, expected: 4, refused: 0, failed: 0, failures: {} },
    ...{
      overAdmission: 0,
      underAdmission: 0,
      limit: 35,
      durationMs: 1_000,
      outlasted: false,
      admittedPerSecond: 4,
    },
    latencyMs: latency,
    refusedLatencyMs: latency,
    headers: { checked: 4, count: 0, problems: [] },
    reset: null,
    thresholds: [],
    plots: {
      samples: [{ atMs: 1, tookMs: 2, verdict: 'admitted' }],
      curve: [
        [0, 1],
        [1, 2],
      ],
      admittedByUser: [2, 2],
    },
  };
};
