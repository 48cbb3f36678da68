/** The operator's pages on the admin listener: what they show of a running service, to whom, and what they never show. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { covered } from '../../src/production/operator/covered.ts';
import { until } from '../kits/service/clock.ts';
import {
  brandId,
  type ProductionKit,
  sqliteLedger,
  startProduction,
  startProductionKit,
} from '../kits/service/production.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { looks, overflowOf } from '../kits/site/console.ts';
import { violationsOn } from '../kits/site/readable.ts';

// It starts a process of the real program.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let kit: ProductionKit;
let service: Awaited<ReturnType<typeof startProduction>>;
beforeAll(async () => {
  kit = await startProductionKit();
  const url = await sqliteLedger(kit.folder, 'operator');
  service = await startProduction(kit.environment(url, { REWARDS_ALLOW_SQLITE: 'true' }));
  await service.event({ brandId, userEmail: 'carol@shop.example' });
  await service.event({ brandId, userEmail: 'carol@shop.example' });
  // They are written together, a moment later.
  await until('the requests are written', async () =>
    (await look('/_rewards/console/requests')).text.includes('duplicate'),
  );
});
afterAll(async () => {
  await service?.stop();
  await kit?.stop();
});

const at = (path: string) => `${service.ready.urls.admin}${path}`;
const look = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(at(path), { redirect: 'manual', ...init });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const paths = ['/_rewards/', ...['requests', 'webhooks', 'relay'].map((page) => `/_rewards/console/${page}`)];

test('the front page leads there; lanes, gas money, slow requests and this process are shown', async () => {
  const front = await look('/');
  expect([front.status, front.headers.get('location')]).toEqual([302, '/_rewards/']);
  const { status, headers, text } = await look('/_rewards/');
  expect(status).toBe(200);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  for (const shown of ['payout', 'Gas money', 'The slowest of the latest 2 requests', 'duplicate', 'version'])
    expect(text).toContain(shown);
});

test('each page is read only, and names nobody', async () => {
  for (const path of paths) {
    const { status, text } = await look(path);
    expect([path, status]).toEqual([path, 200]);
    expect(text).not.toMatch(/class="action"|carol|@shop|127\.0\.0\.1:|key=|postgres:|sqlite:/);
  }
  const id = /req_[0-9a-f]+/.exec((await look('/_rewards/console/requests')).text)?.[0];
  const { status, text } = await look(`/_rewards/console/requests/${id}`);
  expect([status, text.includes('carol'), text.includes('class="action"')]).toEqual([200, false, false]);
  expect(text).toContain('Production keeps no bodies.');
  for (const method of ['POST', 'PATCH', 'DELETE'])
    expect((await look('/_rewards/brands', { method })).status).toBe(404);
  for (const path of ['/_rewards/brands', '/_rewards/requests']) {
    const answer = await look(path);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
  }
});

test('pages of other sites cannot ask for them by a name of theirs', async () => {
  const { request } = await import('node:http');
  const statusOf = (host: string) =>
    new Promise((resolve, reject) => {
      request(at('/_rewards/'), { headers: { host } }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
  expect(await statusOf('evil.example')).toBe(403);
  expect(await statusOf('no host')).toBe(400);
  expect(await statusOf('localhost')).toBe(200);
});

test('mailboxes are covered wherever they stand', () => {
  expect(covered('{"a":"carol@shop.example","b":["<x.y+z@a.b>"],"c":"no@ one"}')).toBe(
    '{"a":"•••@shop.example","b":["<•••@a.b>"],"c":"no@ one"}',
  );
});

describe.skipIf(browserMissing() !== undefined)('in a browser', () => {
  test('they can be read by everybody', async () => {
    const browser = await startBrowser({ hosts: [] });
    try {
      for (const { name, ...options } of looks) {
        const { context, errors } = await browser.visitor(options);
        const page = await context.newPage();
        for (const path of paths) {
          await page.goto(at(path));
          expect([path, name, await overflowOf(page)]).toEqual([path, name, 0]);
          expect([path, name, await violationsOn(page)]).toEqual([path, name, []]);
        }
        expect(errors).toEqual([]);
        await context.close();
      }
    } finally {
      await browser.stop();
    }
  });
});
