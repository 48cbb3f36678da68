/** The console in a real browser: who comes in, what pages show and do, and that they can be used by everybody. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pages } from '../../src/console/pages.ts';
import { parseDuration } from '../../src/lib/duration.ts';
import { someone, startTestService, type TestService } from '../kits/service/service.ts';
import { browserMissing, startBrowser } from '../kits/site/browser.ts';
import { looks, openConsole, overflowOf } from '../kits/site/console.ts';
import { violationsOn } from '../kits/site/readable.ts';

/** As often as a page has places to stop at, and some more. */
const TABS_MAX = 400;

/** Goes on with the Tab key until what has the focus is called so. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>(
      `(() => { const at = document.activeElement; return (at?.labels?.[0]?.querySelector('span') ?? at)?.textContent ?? ''; })()`,
    );
    if (focused.trim() === name) return;
  }
  throw new Error(`${name} cannot be reached with the Tab key`);
}

const placeOf = (rect: { getAttribute(name: string): string | null }) => ({
  x: Number(rect.getAttribute('x')),
  y: Number(rect.getAttribute('y')),
});

const commandsOf = (codes: { getAttribute(name: string): string | null }[]) =>
  codes.map((code) => code.getAttribute('data-command') ?? '');

const HTML = { accept: 'text/html' };

describe('without a browser', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());

  const cookie = async () => {
    const entered = await fetch(`${service.ready.urls.control}?token=${service.ready.controlToken}`, {
      redirect: 'manual',
    });
    return entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  };

  test('a browser without the session is told how to come in, and sees nothing of the stack', async () => {
    for (const path of ['', '/', '/console/requests', '/console/nothing']) {
      const answer = await fetch(service.ready.urls.control + path, { headers: HTML, redirect: 'manual' });
      const text = await answer.text();
      expect([path, answer.status]).toEqual([path, 401]);
      expect(text).toContain('rewards open');
      expect(text).not.toContain('demo.example');
    }
    expect((await fetch(`${service.ready.urls.control}/console/live`)).status).toBe(401);
  });

  test('making a page does not set Node to follow every promise of the process', async () => {
    // The use of one AsyncLocalStorage is enough for that, before Node 24 and for ever.
    const run = vi.spyOn(AsyncLocalStorage.prototype, 'run');
    try {
      const page = await fetch(service.ready.urls.control, { headers: { ...HTML, cookie: await cookie() } });
      expect(await page.text()).toContain('Needs a look');
      // What hono/jsx holds in its own; those of databases in tests hold something else.
      expect(run.mock.calls.filter(([held]) => held instanceof WeakMap)).toEqual([]);
    } finally {
      run.mockRestore();
    }
  });

  test('a link to a page leads to that page, and to nothing outside of the console', async () => {
    const token = service.ready.controlToken;
    const led = async (path: string) =>
      (await fetch(`${service.ready.urls.control}${path}token=${token}`, { redirect: 'manual' })).headers.get(
        'location',
      );
    expect(await led('/console/requests?status=4xx&')).toBe(
      `/_rewards/console/requests?status=4xx#token=${token}`,
    );
    expect(await led('/clock?')).toBe(`/_rewards/#token=${token}`);
    expect(await led('//evil.example?')).toBe(`/_rewards/#token=${token}`);
  });

  test('pages run nothing but their own script, in nobody’s frame, and are kept by no cache', async () => {
    const answer = await fetch(`${service.ready.urls.control}/`, {
      headers: { ...HTML, cookie: await cookie() },
    });
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const text = await answer.text();
    expect(text).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|https?:\/\//);
    expect(text).not.toContain(service.ready.controlToken);
  });

  test('what a page asks and the API refuses is said in its words, with its status', async () => {
    const headers = { ...HTML, cookie: await cookie() };
    const missing = await fetch(`${service.ready.urls.control}/console/requests/req_00`, { headers });
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain('req_00');
    const wrong = await fetch(`${service.ready.urls.control}/console/requests?status=900`, { headers });
    expect(wrong.status).toBe(400);
    const nothing = await fetch(`${service.ready.urls.control}/console/nothing`, { headers });
    expect([nothing.status, await nothing.text()]).toEqual([404, expect.stringContaining('No such page')]);
  });

  test('a reward leads to its transaction, that to its block, and that to its neighbours', async () => {
    const headers = { ...HTML, cookie: await cookie() };
    const read = async (path: string) => {
      const answer = await fetch(`${service.ready.urls.control}/console${path}`, { headers });
      return { status: answer.status, text: await answer.text() };
    };
    const { transactionHash } = (await service.event({ userEmail: someone() })).body;
    const transaction = await read(`/chain/transactions/${transactionHash}`);
    expect(transaction.text).toContain('Rewards in it');
    const [, number] = /console\/chain\/blocks\/(\d+)/.exec(transaction.text) ?? [];
    const block = await read(`/chain/blocks/${number}`);
    expect(block.text).toContain(`/console/chain/transactions/${transactionHash}`);
    expect(block.text).toContain(`/console/chain/blocks/${Number(number) - 1}"`);
    const [, payee] = /console(\/users\/0x\w+)/.exec(transaction.text) ?? [];
    expect((await read(payee ?? '/no-payee')).text).toMatch(/console\/requests\/req_/);

    expect((await read('/chain?before=0')).text).toContain('No block yet.');
    expect((await read('/chain/blocks/0')).status).toBe(200);
    for (const wrong of ['/chain?before=soon', '/chain/blocks/-1', '/chain/blocks/1e3']) {
      expect([wrong, await read(wrong)]).toEqual([
        wrong,
        { status: 400, text: expect.stringContaining('number of a block') },
      ]);
    }
    const ahead = await read('/chain/blocks/999999999');
    expect([ahead.status, ahead.text]).toEqual([404, expect.stringContaining('the newest is')]);
    expect((await read('/chain/transactions/0x12')).status).toBe(400);
  });

  test('the stack stops at once, and a restore waits for nobody, while pages listen', async () => {
    const own = await startTestService();
    const entered = await fetch(`${own.ready.urls.control}?token=${own.ready.controlToken}`, {
      redirect: 'manual',
    });
    const headers = { cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const live = await fetch(`${own.ready.urls.control}/console/live`, { headers });
    expect(live.headers.get('content-type')).toBe('text/event-stream');
    const reader = live.body?.getReader();
    await reader?.read();
    await own.event({ userEmail: someone() });
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('event: changed');
    await own.control('/snapshot', { name: 'base' });
    expect((await own.control('/restore', { name: 'base' })).status).toBe(200);
    // The restored stack has streams of its own; the earlier ones ended with the stack that they told of.
    await until(async () => (await reader?.read())?.done === true);
    const again = await fetch(`${own.ready.urls.control}/console/live`, { headers });
    await own.stop();
    expect(await ended(again)).toBe(true);
  });
});

const LISTENERS_MAX = 128;

describe('who listens for changes', () => {
  test('as many as 128 are each told of what happens; another is asked to come later, and has the place of one who left', async () => {
    const own = await startTestService();
    const entered = await fetch(`${own.ready.urls.control}?token=${own.ready.controlToken}`, {
      redirect: 'manual',
    });
    const headers = { cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const listen = () => fetch(`${own.ready.urls.control}/console/live`, { headers });
    const answers = await Promise.all(Array.from({ length: LISTENERS_MAX }, listen));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const readers = answers.map(({ body }) => body?.getReader());
    for (const reader of readers) await reader?.read();
    const refused = await listen();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    await refused.text();
    await own.event({ userEmail: someone() });
    for (const reader of readers)
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('event: changed');
    await readers[0]?.cancel();
    let later = await listen();
    while (later.status !== 200) {
      await later.text();
      later = await listen();
    }
    await later.body?.cancel();
    await own.stop();
  });
});

const until = async (holds: () => Promise<boolean>) => {
  while (!(await holds()));
};
const ended = async (answer: Response) => {
  await answer.text();
  return true;
};

describe.skipIf(browserMissing() !== undefined)('in a browser', () => {
  let service: TestService;
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  beforeAll(async () => {
    service = await startTestService();
    browser = await startBrowser({ hosts: [] });
  });
  afterAll(async () => {
    await browser?.stop();
    await service?.stop();
  });

  const lists = pages.filter(({ path }) => !path.includes(':')).map(({ path }) => path);

  test.each(lists)(
    '%s can be read by everybody, in every width and scheme',
    { timeout: 60_000 },
    async (path) => {
      await service.event({ userEmail: someone() });
      for (const { name, ...options } of looks) {
        const at = path === '/' ? '/' : `/console${path}`;
        const { page, errors, close } = await openConsole(browser, service.ready, at, options);
        expect([name, await overflowOf(page)]).toEqual([name, 0]);
        expect([name, await violationsOn(page)]).toEqual([name, []]);
        expect(errors).toEqual([]);
        await close();
      }
    },
  );

  /** One of each, with something of everything on it. */
  async function oneOfEach(): Promise<string[]> {
    const user = someone();
    const sent = await service.event({ userEmail: user });
    const refused = await service.event({ userEmail: user });
    const { body: session } = await service.control('/processor/sessions', { user, amount: 500 });
    await service.control(`/processor/sessions/${session.id}/pay`, {});
    await checkIn(user);
    const { body: listed } = await service.request(
      `${service.ready.urls.control}/webhooks/deliveries?limit=1`,
    );
    const { brandId } = service.brand;
    return [
      `/requests/${idOf(refused)}?at=2035-01-01T00:00:00Z`,
      `/users/${user}`,
      '/users/nobody@people.example',
      `/brands/${brandId}?event=account_creation&user=${user}&rule=account_creation`,
      `/brands/${brandId}?range=hour`,
      '/figures?range=hour',
      '/figures?brand=0x00000000000000000000000000000000000000ff',
      `/payments/${session.id}`,
      `/webhooks/${listed.deliveries[0].eventId}`,
      `/webhooks/endpoints/${listed.deliveries[0].endpointId}`,
      `/chain/transactions/${sent.body.transactionHash}`,
      '/chain/blocks/1',
    ];
  }
  const checkIn = (userIdentifier: string) => {
    const activity = { brandId: service.brand.brandId, userIdentifier, platform: 'web', streakType: 'daily' };
    return service.post('/streak/record-activity', activity);
  };
  const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? '';

  test('the page of each single thing can be read by everybody', { timeout: 120_000 }, async () => {
    const paths = await oneOfEach();
    for (const { name, ...options } of looks) {
      const { page, errors, close } = await openConsole(browser, service.ready, '/', options);
      for (const path of paths) {
        const answer = await page.goto(`${service.ready.urls.control}/console${path}`);
        expect([path, name, answer?.status()]).toEqual([path, name, 200]);
        expect([path, name, await overflowOf(page)]).toEqual([path, name, 0]);
        expect([path, name, await violationsOn(page)]).toEqual([path, name, []]);
      }
      expect(errors).toEqual([]);
      await close();
    }
  });

  test('a user’s streak is a calendar of a year, and a table of it', async () => {
    const user = someone();
    await checkIn(user);
    await service.control('/clock', { advance: '2d' });
    await checkIn(user);
    const { page, close } = await openConsole(browser, service.ready, `/console/users/${user}`);
    const { body: shown } = await service.request(`${service.ready.urls.control}/users/${user}`);
    const [latest, first] = shown.brands[0].streak.activeDays;
    const { x: latestAt, y } = await page.locator('.calendar rect.marked.today').evaluate(placeOf);
    expect(y).toBe(18 + 16 * ((new Date(latest).getUTCDay() + 6) % 7));
    expect(latestAt).toBe(36 + 16 * 52);
    expect(await page.locator('.calendar rect.marked').count()).toBe(2);
    expect(await page.locator('.calendar rect').count()).toBeGreaterThan(364);
    await page.locator('.calendar summary').click();
    const rows = await page.locator('.calendar tbody tr').allInnerTexts();
    const days = rows.flatMap((row) => {
      const [month = '', , which = ''] = row.split(/\t/);
      return which.split(', ').map((day) => `${month}-${day.padStart(2, '0')}`);
    });
    expect(days.sort()).toEqual([first, latest]);
    await close();
  });

  test('the tester of a brand knows channels, and the page how far limits are used', async () => {
    const own = await startTestService();
    const { brandId } = own.brand;
    await own.change(`/brands/${brandId}`, { spendPerHour: 400 });
    await own.event({ userEmail: someone() });
    const { page, close } = await openConsole(browser, own.ready, `/console/brands/${brandId}`);
    await page.getByText('100 (25 %)').waitFor();
    const tester = page.locator('form.filter', { hasText: 'channel' });
    await tester.getByLabel('event').selectOption('custom_support_answer');
    await tester.getByLabel('user').fill(someone());
    await tester.getByLabel('channel').fill('#other');
    await tester.getByRole('button').click();
    await page.waitForURL(/channel=%23other/);
    await page.getByText("--channel '#other' --dry-run").waitFor();
    await page.getByText('#other is not one of').first().waitFor();
    await tester.getByLabel('channel').fill('#support');
    await tester.getByRole('button').click();
    await page.getByText('#support is one of #support').waitFor();
    await close();
    await own.stop();
  });

  test('the token leaves the address, and actions go by the control API with the command beside them', async () => {
    const { page, close } = await openConsole(browser, service.ready, '/console/time');
    expect(page.url()).toBe(`${service.ready.urls.control}/console/time`);
    const before = Date.parse((await service.request(`${service.ready.urls.control}/clock`)).body.now);
    await page.getByRole('button', { name: 'An hour on' }).click();
    await page.locator('form', { hasText: 'An hour on' }).getByText('Done.').waitFor();
    const after = Date.parse((await service.request(`${service.ready.urls.control}/clock`)).body.now);
    expect(after - before).toBeGreaterThanOrEqual(3_600_000);
    await page.getByText('rewards clock advance 1h', { exact: true }).waitFor();

    await page.getByLabel('how long').fill('90');
    await page.getByText('rewards clock advance 90', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'By so much' }).click();
    await page.getByText('"90" has no unit').waitFor();
    await close();
  });

  test('who may only read is told how to act', async () => {
    const { page, close } = await openConsole(browser, service.ready, '/console/time');
    await page.evaluate('localStorage.clear()');
    await page.getByRole('button', { name: 'An hour on' }).click();
    await page.getByText('This browser may only read').waitFor();
    await close();
  });

  test('a request that comes in is on the open page, which keeps what is chosen and typed', async () => {
    const { page, close } = await openConsole(browser, service.ready, '/console/requests');
    await page.getByLabel('user').fill('somebody');
    const user = someone();
    await service.event({ userEmail: user });
    await page.getByText(user).first().waitFor();
    expect(await page.getByLabel('user').inputValue()).toBe('somebody');
    await close();
  });

  test('the checks of a refused request are on its page, with when it passes and how to get there', async () => {
    const user = someone();
    await service.event({ userEmail: user });
    await service.event({ userEmail: user });
    const { page, close } = await openConsole(browser, service.ready, `/console/requests?user=${user}`);
    await page.getByRole('link', { name: /^req_/ }).first().click();
    await page.getByRole('heading', { name: 'why account_creation was decided so' }).waitFor();
    await page.getByText('refused', { exact: true }).first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByText('"rwtRewarded": 0').waitFor();
    await close();
  });

  test('a command with what a stranger wrote runs nothing else when it is pasted into a shell', async () => {
    const hostile = `it's $(touch pwned) \`id\`; "x" {user} \\ \u0015 \n&& !! <b> \u202e`;
    const asked = encodeURIComponent(hostile);
    const commands = [
      // As far as a path may have them.
      ["/users/it's%20$(touch%20pwned)`id`", ['users', 'show', "it's $(touch pwned)`id`"]],
      [`/users?name=${asked}`, ['users', 'list', hostile]],
      [`/requests?user=${asked}&path=%2F`, ['requests', 'list', '--user', hostile, '--path', '/']],
      [`/payments?user=${asked}`, ['checkout', 'list', '--user', hostile]],
      [
        `/brands/${service.brand.brandId}?event=${asked}&user=${asked}&domain=${asked}`,
        ['send-event', hostile, '--user', hostile, '--brand', service.brand.brandId].concat(
          ...['--domain', hostile, '--dry-run'],
        ),
      ],
    ] as const;
    const { page, close } = await openConsole(browser, service.ready, '/');
    for (const [path, words] of commands) {
      await page.goto(`${service.ready.urls.control}/console${path}`);
      const shown = await page.locator('code[data-command]').evaluateAll(commandsOf);
      const [command = ''] = shown.filter((one) => one.includes('touch'));
      expect(command).not.toMatch(/[\u0000-\u001f]/);
      const said = execFileSync('bash', ['-c', `rewards() { printf '%s\\0' "$@"; }; ${command}`]);
      expect(said.toString().split('\0').slice(0, -1)).toEqual(words);
    }
    await close();
  });

  test('what strangers write is text: markup, escapes and marks of direction', async () => {
    const path = '/<img src=x onerror=alert(1)>\u202e';
    await service.request(`/rewards-api${encodeURI(path)}`);
    const { page, errors, close } = await openConsole(browser, service.ready, '/console/requests');
    let asked = false;
    page.on('dialog', () => {
      asked = true;
    });
    await page.getByText('/rewards-api/').first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect([asked, errors]).toEqual([false, []]);
    await close();
  });

  test('dragging on the line of time says how long it is until there, and its button goes there', async () => {
    const own = await startTestService();
    await own.event({ userEmail: someone() });
    const { page, errors, close } = await openConsole(browser, own.ready, '/console/time');
    const line = page.locator('.time-line');
    const box = await line.boundingBox();
    if (!box) throw new Error('no line is drawn');
    const [y, middle] = [box.y + box.height / 3, box.x + box.width / 2];
    await page.mouse.move(box.x + 20, y);
    await page.mouse.down();
    await page.mouse.move(middle, y, { steps: 4 });
    const field = page.locator('form.action input[name="advance"]');
    const half = await field.inputValue();
    expect(half).toMatch(/^(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?$/);
    await page.getByText(`rewards clock advance ${half}`, { exact: true }).waitFor();
    // Near its end there is the last of the moments, which is meant then.
    await page.mouse.move(box.x + box.width - 8, y, { steps: 4 });
    await page.mouse.up();
    const last = await page.locator('.time-line circle').last().getAttribute('data-ahead-ms');
    const whole = await field.inputValue();
    expect(parseDuration(whole)).toBe(Math.ceil(Number(last) / 1_000) * 1_000);
    const before = (await own.request(`${own.ready.urls.control}/clock`)).body.nowMs;
    await page.keyboard.press('Enter');
    await expect
      .poll(async () => (await own.request(`${own.ready.urls.control}/clock`)).body.nowMs)
      .toBeGreaterThanOrEqual(before + Number(last));
    expect(errors).toEqual([]);
    await close();
    await own.stop();
  });

  test('rewards over a chosen time are a plot and a table, and the brand’s page says how long its escrow lasts', async () => {
    const own = await startTestService();
    const at = `/console/brands/${own.brand.brandId}`;
    const { page, errors, close } = await openConsole(browser, own.ready, at);
    await page.getByText('not known: nothing was spent in the last day').waitFor();
    await own.change(`/brands/${own.brand.brandId}`, { spendPerHour: 1_000 });
    const { body: paid } = await own.event({ userEmail: someone() });
    await page.getByText(/^\d+[dhm]\S*, at the pace of the last day$/).waitFor();
    await page.locator('#boards').getByRole('img', { name: 'The leaderboard over each week' }).waitFor();
    await page.getByText(`${paid.rewardAmount} (`, { exact: false }).waitFor();
    await page.getByRole('link', { name: 'hour', exact: true }).click();
    await page.getByText('at the pace of the last hour').waitFor();
    expect(await page.getByRole('link', { name: 'hour', exact: true }).getAttribute('aria-current')).toBe(
      'true',
    );
    await page.goto(`${own.ready.urls.control}/console/figures`);
    await page.getByLabel('rewards of the last').selectOption('week');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL(/range=week/);
    await page.getByRole('img', { name: 'RWT rewarded in the last week' }).waitFor();
    await page.locator('figure', { hasText: 'RWT, by time' }).getByText('As a table').click();
    await page.getByRole('row', { name: new RegExp(`1 ${paid.rewardAmount}$`) }).waitFor();
    await page.getByText('rewards history --range week', { exact: true }).waitFor();
    const wrong = await page.goto(`${own.ready.urls.control}/console/figures?range=year`);
    expect([wrong?.status(), errors]).toEqual([400, []]);
    await close();
    await own.stop();
  });

  test('many tabs of a browser share one stream, and each is up to date', { timeout: 60_000 }, async () => {
    const { page, close } = await openConsole(browser, service.ready, '/console/requests');
    const tabs = [page];
    for (let count = 1; count < 12; count++) {
      const tab = await page.context().newPage();
      await tab.goto(`${service.ready.urls.control}/console/requests`);
      tabs.push(tab);
    }
    const user = someone();
    await service.event({ userEmail: user });
    for (const tab of tabs) {
      await tab.bringToFront();
      await tab.getByText(user).first().waitFor();
    }
    await close();
  });

  test('an event is sent from the overview, and its page says how it was decided', async () => {
    const { page, close } = await openConsole(browser, service.ready);
    const user = someone();
    await page.getByLabel('event', { exact: true }).fill('account_creation');
    await page.getByLabel('user', { exact: true }).fill(user);
    await page.getByText(`rewards send-event account_creation --user ${user}`).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/console\/requests\/req_/);
    expect(await page.getByRole('definition').allInnerTexts()).toEqual(
      expect.arrayContaining(['rewarded', user]),
    );
    await close();
  });

  test('a rule is changed and added on its brand’s page; a wrong field is named in the API’s words', async () => {
    const at = `/console/brands/${service.brand.brandId}?rule=form_submit`;
    const { page, close } = await openConsole(browser, service.ready, at);
    await page.getByLabel('RWT', { exact: true }).fill('12');
    await page.getByLabel('cooldown', { exact: true }).fill('soon');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/cooldown must be a duration/).waitFor();
    expect(await page.getByLabel('cooldown', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('cooldown', { exact: true }).fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Done.').waitFor();
    await page.goto(`${service.ready.urls.control}/console/brands/${service.brand.brandId}`);
    await page.getByLabel('event', { exact: true }).last().fill('custom_console');
    await page.getByLabel('RWT', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Done.').waitFor();
    const { body } = await service.request(`${service.ready.urls.control}/brands/${service.brand.brandId}`);
    const rewardOf = (type: string) =>
      body.rules.find(({ eventType }: { eventType: string }) => eventType === type)?.reward;
    expect([rewardOf('form_submit'), rewardOf('custom_console')]).toEqual([12, 7]);
    await close();
  });

  test('who has never seen it finds in three steps why a user got nothing yesterday', async () => {
    const user = someone();
    await service.event({ userEmail: user, eventType: 'rate_experience' });
    await service.event({ userEmail: user, eventType: 'rate_experience' });
    await service.control('/clock', { advance: '24h' });
    const { page, close } = await openConsole(browser, service.ready);
    // One: the requests. Two: those of the user, of whom only the name is known. Three: the one that was refused.
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByLabel('user', { exact: true }).fill(user);
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /409/ }).getByRole('link').first().click();
    await page.getByText(/was accepted less than 1m ago/).waitFor();
    await close();
  });

  test('the first hour by keyboard alone: send, explain, pay, replay, advance, snapshot, undo', async () => {
    const own = await startTestService({ undo: true });
    const { page, close } = await openConsole(browser, own.ready);
    const user = someone();
    page.on('dialog', (dialog) => dialog.accept());
    const press = async (name: string, key = 'Enter') => {
      await tabTo(page, name);
      await page.keyboard.press(key);
    };
    const type = async (name: string, text: string) => {
      await tabTo(page, name);
      await page.keyboard.type(text);
    };
    await type('event', 'rate_experience');
    await type('user', user);
    await press('Send');
    await page.waitForURL(/requests\/req_/);
    await page.getByText('+50').or(page.getByText('granted 50 RWT')).first().waitFor();
    await press('Replay');
    await page.getByText(/"reason": "duplicate"/).waitFor();

    await press('Payments');
    await page.waitForURL(/console\/payments$/);
    await type('cents', '500');
    await type('user', user);
    await press('Begin a payment');
    await page.waitForURL(/payments\/cs_/);
    await press('Pay');
    await page.getByText('minted', { exact: true }).waitFor();

    await press('Time and snapshots');
    await page.waitForURL(/console\/time/);
    await type('name', 'first-hour');
    await press('Save');
    await page.getByText('rewards snapshot restore first-hour').waitFor();
    const shownMs = async () => Date.parse((await page.locator('#clock time').first().textContent()) ?? '');
    const before = await shownMs();
    await press('An hour on');
    await page.getByText('Done.').waitFor();
    await until(async () => (await shownMs()) > before + 3_500_000);
    await press('Undo the last change');
    await until(async () => Math.abs((await shownMs()) - before) < 600_000);
    await close();
    await own.stop();
  });

  test('links and filters change the page within one document; back, forward and what happens live go on', async () => {
    const { page, errors, close } = await openConsole(browser, service.ready);
    await page.evaluate('globalThis.sameDocument = true');
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    expect(await page.title()).toBe('Requests · rewards');
    expect(await page.locator('nav a[aria-current]').textContent()).toBe('Requests');
    expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
    await page.getByLabel('decision').fill('rewarded');
    await page.keyboard.press('Enter');
    await page.waitForURL(/requests\?decision=rewarded$/);
    const user = someone();
    await service.event({ userEmail: user });
    await page.getByText(user).first().waitFor();
    await page.goBack();
    await page.waitForURL(/requests$/);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    expect(await page.evaluate('globalThis.sameDocument')).toBe(true);
    // What the API refuses is a document of its own, with its status.
    await page.getByLabel('status').fill('900');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Not shown' }).waitFor();
    expect(await page.evaluate('globalThis.sameDocument ?? false')).toBe(false);
    expect(errors).toEqual([]);
    await close();
  });

  test('it is usable by keyboard alone', async () => {
    const { page, close } = await openConsole(browser, service.ready, '/console/requests');
    await page.keyboard.press('/');
    await page.keyboard.type('nobody-at-all');
    await page.keyboard.press('Enter');
    await page.getByText('No request yet').waitFor();
    await page.goto(`${service.ready.urls.control}/console/requests`);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/console\/requests\/req_/);
    await close();
  });
});
