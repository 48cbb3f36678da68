/** What attackers try on the site: each is refused, or does nobody harm. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultEvents } from '../../src/site/plugin/plugin-settings.ts';
import { someone, type TestService } from '../kits/service/service.ts';
import { basic, startSiteAndService, type TestSite } from '../kits/site/site.ts';

const api = '/wp-json/rewards/v1';
const ajax = '/wp-admin/admin-ajax.php';
const SCRIPT = '<script>alert(1)</script>';
let service: TestService;
let site: TestSite;

beforeAll(async () => {
  ({ service, site } = await startSiteAndService({ events: [...defaultEvents] }));
});
// What one test used up of an address's failures and accounts is there again for the next.
beforeEach(() => site.clock.advance(25 * 3_600_000));
afterAll(async () => {
  await site?.stop();
  await service?.stop();
});

/** A page as a browser opens it: its text, its form's nonce, and the cookies after it. */
async function open(path: string, cookie = '') {
  const { status, body, headers } = await site.request(path, { headers: { cookie } });
  const given = headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  const nonce = /name="_nonce" value="([0-9a-f]+)"/.exec(body)?.[1] ?? '';
  return {
    status,
    text: String(body),
    nonce,
    cookie: [cookie, ...given].filter((one) => one !== '').join('; '),
  };
}
const sendForm = (path: string, fields: Record<string, string>, headers: Record<string, string>) =>
  site.request(path, { method: 'POST', headers, body: new URLSearchParams(fields) });
const checkedIn = async (cookie: string) => {
  const caller = site.site.accounts.callerOf(new Request(site.url, { headers: { cookie } }));
  if (caller.by !== 'session') throw new Error('not logged in');
  const streak = await site.site.plugin.streak(caller.user);
  return streak.ok && streak.value.checkedInToday;
};

describe('a page of another site', () => {
  it.each([
    ['no nonce', {}],
    ['the right nonce and its own Origin', { origin: 'https://evil.example' }],
    ['the right nonce and an Origin of null', { origin: 'null' }],
    ['the right nonce and Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['the right nonce from a neighbour below the same domain', { 'sec-fetch-site': 'same-site' }],
  ])('cannot check somebody in with %s', async (name, headers) => {
    const browser = await site.browser(await site.person());
    const withNonce: Record<string, string> =
      name === 'no nonce' ? {} : { 'x-site-nonce': browser.nonce('rest') };
    const all: Record<string, string> = { cookie: browser.cookie, ...withNonce, ...headers };
    expect((await site.post(`${api}/checkin`, {}, all)).body.code).toBe('not_logged_in');
    const nonce = name === 'no nonce' ? '' : browser.nonce('form');
    const form = await sendForm(
      '/actions/checkin',
      { _nonce: nonce },
      { cookie: browser.cookie, ...headers },
    );
    expect(form.status).toBe(403);
    expect(await checkedIn(browser.cookie)).toBe(false);
  });

  it('cannot log a visitor in as somebody else, neither by JSON nor by a form nor by text', async () => {
    const { login, password } = await site.person();
    const evil = { origin: 'https://evil.example' };
    const json = await site.post('/login', { login, password }, evil);
    const text = await site.post('/login', { login, password }, { 'content-type': 'text/plain' });
    const form = await sendForm('/login', { login, password, _nonce: (await open('/login')).nonce }, evil);
    for (const { headers } of [json, text, form]) expect(headers.get('set-cookie')).toBeNull();
    expect([json.status, text.status, form.status]).toEqual([401, 400, 303]);
    expect(form.headers.get('location')).toMatch(/\/login\?problem=nonce&/);
  });

  it('cannot be where a login leads', async () => {
    const { login, password } = await site.person();
    for (const next of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/.//evil.example',
      '/%0d%0aX: y',
      '/a\r\nb',
    ]) {
      const page = await open('/login');
      const form = { login, password, next, _nonce: page.nonce };
      const { headers } = await sendForm('/login', form, { cookie: page.cookie });
      const to = new URL(headers.get('location') ?? '', site.url);
      expect([to.origin, to.pathname.startsWith('/site/')]).toEqual([new URL(site.url).origin, true]);
    }
  });

  it('is given no answer that it could read', async () => {
    const { headers } = await site.request(`${api}/leaderboard`, {
      headers: { origin: 'https://evil.example' },
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a session', () => {
  it('that somebody planted in a browser is worth nothing after the login', async () => {
    const planted = `rewards_site_session=${'P'.repeat(43)}`;
    const person = await site.person();
    const { headers } = await site.post('/login', person, { cookie: planted });
    expect(headers.get('set-cookie')).not.toContain('P'.repeat(43));
    expect((await site.post(`${api}/checkin`, {}, { cookie: planted })).body.message).toBe(
      'User must be logged in',
    );
  });

  it('has a new id at each login, and the one before ends', async () => {
    const person = await site.person();
    const first = await site.browser(person);
    const again = await site.post('/login', person, { cookie: first.cookie });
    expect(again.headers.get('set-cookie')?.split(';')[0]).not.toBe(first.cookie);
    expect((await site.post(`${api}/redeem`, {}, first.headers)).status).toBe(401);
  });

  it('ends at logout, on the server too, and its nonces with it', async () => {
    const browser = await site.browser(await site.person());
    const left = await sendForm('/logout', { _nonce: browser.nonce('form') }, { cookie: browser.cookie });
    expect(left.headers.get('set-cookie')).toMatch(/^rewards_site_session=; .*Max-Age=0/);
    expect((await site.post(`${api}/redeem`, {}, browser.headers)).status).toBe(401);
  });

  it('is in a cookie that scripts cannot read and other sites do not send, and in the store as a digest', async () => {
    const { answer, cookie } = await site.browser(await site.person());
    expect(answer.headers.get('set-cookie')).toMatch(
      /^rewards_site_session=[\w-]{43}; Path=\/site; Max-Age=1209600; HttpOnly; SameSite=Lax$/,
    );
    const kept = JSON.stringify(site.store.prepare('select * from sessions').all());
    expect(kept).not.toContain(cookie.split('=')[1]);
  });
});

it('no secret stands in the store as it is', async () => {
  const person = await site.person();
  const secret = Buffer.from(person.basic.authorization.slice(6), 'base64').toString().split(':')[1] ?? '';
  const kept = JSON.stringify([
    site.store.prepare('select * from users').all(),
    site.store.prepare('select * from application_passwords').all(),
  ]);
  for (const plain of [person.password, secret, secret.replaceAll(' ', '')])
    expect(kept).not.toContain(plain);
});

it('forged application passwords are refused, and slowed down; the right one never waits', async () => {
  const { login, email, basic: right } = await site.person();
  // However long an attempt takes, none waits for its second.
  site.clock.freeze();
  const codes: number[] = [];
  for (const forged of [
    '',
    ' ',
    "' or 1=1 --",
    'aaaa bbbb cccc dddd eeee ffff',
    '%',
    '\u0000',
    'x'.repeat(5_000),
  ])
    codes.push((await site.post(`${api}/checkin`, {}, basic(login, forged))).status);
  expect(codes).toEqual([401, 401, 401, 401, 401, 429, 429]);
  const waits = await site.post(`${api}/checkin`, {}, basic(email, 'one more'));
  expect([waits.status, waits.body.code, waits.headers.get('retry-after')]).toEqual([
    429,
    'too_many_attempts',
    '1',
  ]);
  expect((await site.post(`${api}/checkin`, {}, right)).status).toBe(200);
  site.clock.run();
});

describe('a thousand guesses', () => {
  const guess = (login: string, number: number) =>
    site.post('/login', { login, password: `guess ${number}` });
  const counted = (statuses: number[]) =>
    Object.fromEntries(
      [...new Set(statuses)].map((one) => [one, statuses.filter((each) => each === one).length]),
    );

  it('at once of one account: five are looked at, and then the right one has to wait as well', async () => {
    const person = await site.person();
    site.clock.freeze();
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, number) => guess(person.login, number)),
    );
    expect(counted(answers.map(({ status }) => status))).toEqual({ 401: 5, 429: 995 });
    const right = () => site.post('/login', person);
    expect((await right()).status).toBe(429);
    site.clock.advance(1_000);
    expect((await right()).status).toBe(200);
    site.clock.run();
  });

  it('one after the other, as fast as the waits allow, wait 1 s, then 2 s, and soon 15 minutes for each', async () => {
    const { login } = await site.person();
    site.clock.freeze();
    const waits: number[] = [];
    let looked = 0;
    while (looked < 20) {
      const { status, headers } = await guess(login, looked);
      if (status === 401) looked += 1;
      else waits.push(Number(headers.get('retry-after')));
      if (status === 429) site.clock.advance((waits.at(-1) ?? 0) * 1_000);
    }
    site.clock.run();
    expect(waits.slice(0, 12)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  it('from one address of a thousand accounts, real ones or not, are stopped as well', async () => {
    site.clock.freeze();
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, number) => guess(`somebody-${number}`, number)),
    );
    expect(counted(answers.map(({ status }) => status))).toEqual({ 401: 5, 429: 995 });
    site.clock.run();
  });

  it('say the same of an account that there is and of one that there is not', async () => {
    const { login } = await site.person();
    const [known, unknown] = [await guess(login, 1), await guess('nobody-at-all', 1)];
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
  });
});

describe("somebody else's e-mail", () => {
  it('cannot be named in the AJAX action by a user who is logged in', async () => {
    const [mine, theirs] = [await site.person(), await site.person()];
    const { cookie, nonce } = await site.browser(mine);
    const fields = { action: 'rewards_custom_event', event_name: 'social_share', nonce: nonce('ajax') };
    const answer = await site.post(ajax, { ...fields, email: theirs.email }, { cookie });
    expect([answer.status, answer.body.data.code]).toEqual([403, 'not_your_email']);
    const balance = await site.site.plugin.balance(theirs.user);
    expect(balance.ok && balance.value.balance).toBe(0);
  });

  it('in the body of a check-in changes nothing: the user is the caller', async () => {
    const [mine, theirs] = [await site.person(), await site.person()];
    const body = { userIdentifier: theirs.email, userEmail: theirs.email, email: theirs.email };
    expect((await site.post(`${api}/checkin`, body, mine.basic)).status).toBe(200);
    const streak = await site.site.plugin.streak(theirs.user);
    expect(streak.ok && streak.value.checkedInToday).toBe(false);
  });

  it('cannot be registered again, in whatever case', async () => {
    const { email } = await site.person();
    const page = await open('/register');
    const form = { email: email.toUpperCase(), login: 'impostor', displayName: 'x', password: 'long enough' };
    const answer = await sendForm('/register', { ...form, _nonce: page.nonce }, { cookie: page.cookie });
    expect(answer.status).toBe(400);
    expect(site.site.accounts.findUser('impostor')).toBeUndefined();
  });
});

it('no field of the registration makes an administrator, and others see no settings', async () => {
  const page = await open('/register');
  const login = `climber-${process.pid}`;
  const form = { email: someone(), login, displayName: 'x', password: 'long enough', role: 'administrator' };
  const joined = await sendForm('/register', { ...form, _nonce: page.nonce }, { cookie: page.cookie });
  expect(joined.status).toBe(303);
  expect(site.site.accounts.findUser(login)?.role).toBe('subscriber');
  const { cookie, nonce } = await site.browser({ login, password: form.password });
  for (const path of ['/admin/settings', '/admin/posts']) expect((await open(path, cookie)).status).toBe(403);
  const before = site.site.plugin.settings.read();
  const fields = { _nonce: nonce('settings'), brandId: '', domain: 'evil.example' };
  expect((await sendForm('/admin/settings', fields, { cookie })).status).toBe(403);
  expect(site.site.plugin.settings.read()).toEqual(before);
});

it('an address makes at most 20 accounts in an hour', async () => {
  const statuses: number[] = [];
  for (let number = 0; number < 22; number++) {
    const page = await open('/register');
    const form = { email: someone(), login: `many-${process.pid}-${number}`, password: 'long enough' };
    statuses.push(
      (await sendForm('/register', { ...form, _nonce: page.nonce }, { cookie: page.cookie })).status,
    );
  }
  expect(statuses).toEqual([...Array(20).fill(303), 400, 400]);
});

it('a body of any size costs no more than 64 KB, said or unsaid', async () => {
  const { basic: login } = await site.person();
  const large = JSON.stringify({ perkId: 'x'.repeat(1_000_000) });
  for (const path of [`${api}/redeem`, '/login', ajax])
    expect((await site.post(path, large, login)).status).toBe(413);
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(16_384).fill(97)),
  });
  const sending = fetch(`${site.url}${ajax}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: endless,
    ...({ duplex: 'half' } as object),
  });
  expect((await sending).status).toBe(413);
});

it('a script in a name, a comment, a perk or a leaderboard is shown as text', async () => {
  const page = await open('/register');
  const login = `script-${process.pid}`;
  const form = { email: someone(), login, displayName: `Eve ${SCRIPT}`, password: 'long enough' };
  await sendForm('/register', { ...form, _nonce: page.nonce }, { cookie: page.cookie });
  const { cookie, nonce } = await site.browser({ login, password: form.password });
  const slug = site.site.content.posts.published()[0]?.slug;
  const comment = { _nonce: nonce('form'), body: `Nice ${SCRIPT} [rewards_balance]` };
  expect((await sendForm(`/posts/${slug}/comments`, comment, { cookie })).status).toBe(303);
  const perk = {
    name: `Mug ${SCRIPT}`,
    description: `<img src=x onerror=alert(1)>`,
    category: 'digital',
    cost: 10,
  };
  expect((await service.control('/perks', { brand: service.brand.brandId, ...perk })).status).toBeLessThan(
    300,
  );
  await service.post(
    '/leaderboard/update-stats',
    {
      brandId: service.brand.brandId,
      userIdentifier: form.email,
      platform: 'web',
      rwtAmount: 5,
      displayName: `Eve ${SCRIPT}`,
    },
    { authorization: `Bearer ${service.brand.apiKey}` },
  );
  const paths = ['/', `/posts/${slug}`, '/profile', '/perks', '/leaderboard', '/dashboard?tab=perks'];
  const texts = await Promise.all(paths.map(async (path) => (await open(path, cookie)).text));
  for (const text of texts) {
    expect(text).not.toContain(SCRIPT);
    expect(text).not.toContain('<img src=x');
  }
  expect(texts[1]).toContain('Nice &lt;script&gt;alert(1)&lt;/script&gt; [rewards_balance]');
  expect(texts[3]).toContain('Mug &lt;script&gt;');
  const { headers } = await site.request('/', { headers: { cookie } });
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'|script-src 'self'/);
  expect(headers.get('content-security-policy')).not.toContain('unsafe-inline');
});
