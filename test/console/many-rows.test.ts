/** A stack with ten thousand of what grows: its lists stay pages that a browser can show, and lead to all that they leave out. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../src/console/pages.ts';
import { rewards, rewardsJson, serveHere, temporaryDirectory } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { clientOf } from '../kits/service/service.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { openConsole } from '../kits/site/console.ts';

const USERS = 10_000;
/** As many as a body of 10 KB has room for. */
const EVENTS_AT_ONCE = 50;
/** More than the log of requests keeps. */
const REQUESTS = 2_200;
const SESSIONS = 600;
const INBOX = 300;
const PAGE_BYTES_MAX = 1_000_000;

const brandId = `0x${'b5'.repeat(20)}`;
const seed = `brands:
  - name: Many
    brandId: "${brandId}"
    domains: [many.example]
    domainless: allow
    escrow: 1000000
    webhook: { url: "http://127.0.0.1:9/", secret: "whsec_${Buffer.alloc(32, 7).toString('base64')}" }
    events:
      visit: { reward: 1, maxClaims: unlimited, cooldown: 0 }
      form_submit: { reward: 2, maxClaims: unlimited, cooldown: 0 }
  - name: Other
    brandId: "0x${'b6'.repeat(20)}"
    domains: [other.example]
    escrow: 1000
    events: { visit: { reward: 1 } }
`;

let project: Awaited<ReturnType<typeof temporaryDirectory>>;
let stack: Awaited<ReturnType<typeof serveHere>>;
let client: ReturnType<typeof clientOf>;
const control = () => client.ready.urls.control;
const read = async (path: string) => (await client.request(control() + path)).body;

/** So many at a time; a slow machine is not asked for more than it can do. */
async function each(count: number, send: (place: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let place = next++; place < count; place = next++) await send(place);
  };
  await Promise.all(Array.from({ length: 16 }, caller));
}

const userOf = (place: number) => `many-${String(place).padStart(5, '0')}@people.example`;
const endpointNow = async () => (await read('/webhooks/endpoints?brand=many.example')).endpoints[0];

beforeAll(async () => {
  project = await temporaryDirectory();
  await writeFile(join(project.path, 'many.yaml'), seed);
  stack = await serveHere(['--port', '0', '--ephemeral', '--seed', 'many.yaml'], { cwd: project.path });
  client = clientOf(stack.ready);
  // What is told is held there: ten thousand deliveries, and no receiver.
  await client.change(`/webhooks/endpoints/${(await endpointNow()).id}`, { enabled: 'off' });
  await each(USERS / EVENTS_AT_ONCE, async (turn) => {
    const events = Array.from({ length: EVENTS_AT_ONCE }, (_, place) => ({
      ...{ brandId, eventType: turn % 2 === 0 ? 'visit' : 'form_submit' },
      userEmail: userOf(turn * EVENTS_AT_ONCE + place),
    }));
    const { status, body } = await client.post('/rewards-api/bulk-events', { events });
    if (body.processed !== EVENTS_AT_ONCE) throw new Error(`${status}: ${JSON.stringify(body)}`);
  });
  await client.post('/rewards-api/manual-event', {
    ...{ brandId: `0x${'b6'.repeat(20)}`, domain: 'other.example', eventType: 'visit' },
    userEmail: userOf(77),
  });
  await each(REQUESTS, () =>
    client.post('/rewards-api/manual-event', { brandId, eventType: 'no_such_event', userEmail: userOf(1) }),
  );
  await each(SESSIONS, (place) =>
    client.control('/processor/sessions', { user: userOf(place), amount: 500 }),
  );
  await each(INBOX, () => client.post(`${control()}/inbox`, { type: 'test', text: 'x'.repeat(4_000) }));
  await until('everybody was told', async () => {
    const { rewards: sent } = (await read('/overview')).totals;
    return sent >= USERS && (await read('/webhooks/deliveries?limit=500')).deliveries.length === 500;
  });
}, 300_000);
afterAll(async () => {
  await stack?.stop();
  await project?.remove();
});

/** What a browser is given. */
async function pageAt(path: string): Promise<{ status: number; text: string }> {
  const entered = await fetch(`${control()}?token=${client.ready.controlToken}`, { redirect: 'manual' });
  const headers = { accept: 'text/html', cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' };
  const answer = await fetch(control() + path, { headers });
  return { status: answer.status, text: await answer.text() };
}

const lists = pages.filter(({ path }) => !path.includes(':')).map(({ path }) => path);

describe('ten thousand rows', () => {
  test('every list is a page of less than a megabyte, also where its address asks for all that it may', async () => {
    for (const path of lists) {
      for (const query of ['', '?limit=999999&endpoints=999999']) {
        const at = `${path === '/' ? '/' : `/console${path}`}${query}`;
        const { status, text } = await pageAt(at);
        expect([at, status]).toEqual([at, 200]);
        expect([at, Buffer.byteLength(text) < PAGE_BYTES_MAX]).toEqual([at, true]);
      }
    }
  });

  test('a list that is cut short says so, and how to get at the rest', async () => {
    const says = async (path: string) => (await pageAt(`/console${path}`)).text;
    for (const path of ['/requests', '/payments', '/webhooks', '/webhooks/inbox', '/users'])
      expect([path, await says(path)]).toEqual([path, expect.stringMatching(/>(Show more|Next users)</)]);
    for (const path of ['/requests', '/payments', '/webhooks', '/webhooks/inbox'])
      expect([path, await says(`${path}?limit=999999`)]).toEqual([
        path,
        expect.stringMatching(/Only \d+ are listed\. \S+/),
      ]);
    expect(await says(`/requests?user=${userOf(1)}&status=429&limit=999999`)).not.toContain('are listed');
    expect(await says(`/payments?user=${userOf(1)}`)).not.toContain('Show more');
  });

  test('page by page every user is listed once, the newest first, by name and by brand', async () => {
    const everybody = async (query: string) => {
      const found: string[] = [];
      for (let after = '', more = true; more; ) {
        const page = await read(`/users?limit=500${query}${after && `&after=${encodeURIComponent(after)}`}`);
        found.push(...page.users.map(({ user }: { user: string }) => user));
        after = found.at(-1) ?? '';
        more = page.more;
      }
      return found;
    };
    const names = Array.from({ length: USERS }, (_, place) => userOf(place));
    const byAge = await everybody('');
    expect(new Set(byAge).size).toBe(byAge.length);
    expect(byAge).toEqual(expect.arrayContaining(names));
    expect(await everybody('&name=many-')).toEqual(names);
    expect(await everybody('&brand=many.example')).toEqual(names);
    expect(await everybody('&brand=many.example&name=MANY-0000')).toEqual(names.slice(0, 10));
    expect(await everybody('&brand=other.example')).toEqual([userOf(77)]);
  }, 120_000);

  test('a cursor that is nobody, and a brand that is none, are refused', async () => {
    const asked = (query: string) => client.request(`${control()}/users?${query}`);
    const nobody = await asked('after=nobody@people.example');
    expect([nobody.status, nobody.body.details.reason]).toEqual([404, 'wallet_not_found']);
    expect((await asked('brand=none.example')).status).toBe(404);
    expect((await asked('name=many-&after=many-09998')).body.users).toMatchObject([
      { user: userOf(9_998) },
      { user: userOf(9_999) },
    ]);
  });

  test('the command line goes from page to page with what it prints', async () => {
    const here = { cwd: project.path };
    const first = await rewards(['users', 'list', '--brand', 'many.example', '-n', '2'], here);
    expect(first.stdout).toMatch(new RegExp(`more: --after ${userOf(1)}\n$`));
    const args = ['users', 'list', '--brand', 'many.example', '--after', userOf(1), '-n', '1'];
    const { envelope } = await rewardsJson(args, here);
    expect(envelope.data.body).toMatchObject({ users: [{ user: userOf(2) }], more: true });
  });

  test('endpoints are listed page by page, the newest first, and “latest” is the newest', async () => {
    const ids: string[] = [(await endpointNow()).id];
    for (let place = 0; place < 5; place++) {
      const url = `http://127.0.0.1:9/${place}`;
      ids.unshift((await client.control('/webhooks/endpoints', { brand: 'other.example', url })).body.id);
    }
    const listed: string[] = [];
    for (let after = '', more = true; more; ) {
      const page = await read(`/webhooks/endpoints?limit=2${after && `&after=${after}`}`);
      listed.push(...page.endpoints.map(({ id }: { id: string }) => id));
      after = listed.at(-1) ?? '';
      more = page.more;
    }
    expect(listed.filter((id) => ids.includes(id))).toEqual(ids);
    expect((await client.request(`${control()}/webhooks/endpoints?after=we_none`)).status).toBe(404);
    const latest = await rewardsJson(['webhooks', 'endpoints', 'show', 'latest'], { cwd: project.path });
    expect(latest.envelope.data.body.id).toBe(ids[0]);
    expect((await pageAt('/console/webhooks?endpoints=3')).text).toContain('endpoints=100');
  });
});

describe.skipIf(browserMissing() !== undefined)('ten thousand rows in a browser', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  beforeAll(async () => {
    browser = await startBrowser({ hosts: [] });
  });
  afterAll(() => browser?.stop());

  test('somebody goes from the newest users on, and back, and finds the oldest of a brand', async () => {
    const { page, errors, close } = await openConsole(browser, client.ready, '/console/users');
    const first = async () => (await page.locator('tbody tr a').first().textContent()) ?? '';
    const newest = await first();
    await page.getByRole('link', { name: 'Next users' }).click();
    await page.waitForURL(/after=/);
    expect(await first()).not.toBe(newest);
    await page.getByRole('link', { name: 'From the beginning' }).click();
    await page.waitForURL(/users$/);
    expect(await first()).toBe(newest);
    await page.getByLabel('of brand').fill('many.example');
    await page.keyboard.press('Enter');
    await page.waitForURL(/brand=many\.example/);
    expect(await first()).toBe(userOf(0));
    await page.getByText('rewards users list --brand many.example', { exact: true }).waitFor();
    await page.getByRole('link', { name: userOf(3) }).click();
    await page.getByRole('heading', { name: userOf(3) }).waitFor();
    expect(errors).toEqual([]);
    await close();
  });

  test('every list comes to its end in a browser with nothing thrown', { timeout: 120_000 }, async () => {
    const { page, errors, close } = await openConsole(browser, client.ready);
    for (const path of lists) {
      await page.goto(`${control()}${path === '/' ? '/' : `/console${path}`}?limit=500`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    expect(errors).toEqual([]);
    await close();
  });
});
