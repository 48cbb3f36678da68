/** The site's pages over HTTP: who sees what, what forms do, and that nothing anybody writes becomes markup. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adjustableClock } from '../../src/lib/clock.ts';
import { secureRandom } from '../../src/lib/ids.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createSite } from '../../src/site/create-site.ts';
import { openSiteStore } from '../../src/site/store.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';
import { startTestSite, type TestSite } from '../kits/site/site.ts';
import { formsIn, type SiteVisitor, siteVisitor, textOf } from '../kits/site/site-visitor.ts';

const EVIL = '<script>alert(1)</script>';
let service: TestService;
let site: TestSite;
let guest: SiteVisitor;
let member: SiteVisitor;
let admin: SiteVisitor;

beforeAll(async () => {
  service = await startTestService();
  const { events: eventHandlerUrl, services: servicesUrl } = service.ready.urls;
  const { defaultEvents } = await import('../../src/site/plugin/plugin-settings.ts');
  site = await startTestSite({
    brandId: service.brand.brandId,
    eventHandlerUrl,
    servicesUrl,
    debugLogging: true,
    events: defaultEvents.map((event) => ({ ...event, enabled: true })),
  });
  const person = await site.person();
  await site.site.accounts.addUser({
    login: 'admin',
    email: 'admin@people.example',
    displayName: 'Ada Admin',
    password: 'all of the keys',
    role: 'administrator',
  });
  [guest, member, admin] = [siteVisitor(site.url), siteVisitor(site.url), siteVisitor(site.url)];
  await member.logIn(person.login, person.password);
  await admin.logIn('admin', 'all of the keys');
});
afterAll(async () => {
  await site?.stop();
  await service?.stop();
});

/** Lines of the debug log about calls of an event, as the administrator reads them. */
async function eventLines(eventName: string, about = ''): Promise<string[]> {
  await site.site.plugin.idle();
  const { html } = await admin.get('/admin/settings');
  const lines = [...html.matchAll(/<li><time[\s\S]*?<\/li>/g)].map(([line]) => textOf(line));
  return lines.filter((line) => line.includes(`event ${eventName} of ${about}`));
}

const publish = async (title: string, body: string) => {
  await admin.submit('/admin/posts', '/admin/posts', { title, body, publish: 'yes' });
  return site.site.content.posts.all()[0]?.slug ?? '';
};

describe('who sees what', () => {
  it.each([
    ['/', 200, 200, 200],
    ['/posts/points-for-showing-up', 200, 200, 200],
    ['/shop', 200, 200, 200],
    ['/leaderboard', 200, 200, 200],
    ['/perks', 200, 200, 200],
    ['/dashboard', 200, 200, 200],
    ['/share?url=%2Fsite%2Fshop', 200, 200, 200],
    ['/login', 200, 303, 303],
    ['/register', 200, 303, 303],
    ['/profile', 303, 200, 200],
    ['/admin/settings', 303, 403, 200],
    ['/admin/posts', 303, 403, 200],
    ['/posts/nothing', 404, 404, 404],
    ['/nothing', 404, 404, 404],
  ])('%s answers guests %i, members %i, administrators %i', async (path, ...statuses) => {
    const answers = await Promise.all([guest, member, admin].map((visitor) => visitor.get(path)));
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    for (const { status, html, headers } of answers.filter(({ status: one }) => one !== 303)) {
      expect(html, path).toContain('<main id="main"');
      expect(html.match(/<h1>/g), path).toHaveLength(1);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(html, `${path} ${status}`).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/);
    }
  });

  it('a page for members leads a guest to the login and back', async () => {
    const person = await site.person();
    const visitor = siteVisitor(site.url);
    const away = await visitor.get('/profile');
    expect(away.location).toBe('/login?next=%2Fprofile');
    const refused = await visitor.submit(away.location, '/login', { login: person.login, password: 'no' });
    expect(refused.location).toBe('/login?problem=wrong&next=%2Fprofile');
    const back = await visitor.submit(refused.location, '/login', {
      login: person.login,
      password: person.password,
    });
    expect(back).toMatchObject({ status: 303, location: '/profile' });
    expect((await visitor.get('/profile')).html).toContain(person.email);
  });

  it('style and script have a hash in their names, and are kept for good', async () => {
    const { html } = await guest.get('/');
    const paths = [...html.matchAll(/(?:href|src)="\/site(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(paths).toHaveLength(2);
    for (const path of paths) {
      expect(path).toMatch(/^\/assets\/site\.[0-9a-f]{12}\.(css|js)$/);
      const { status, headers } = await guest.get(path);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
    expect((await guest.get('/assets/site.000000000000.css')).status).toBe(404);
  });

  it.each(['', '/a/deep/base'])('links, forms and cookies keep to the base path %j', async (path) => {
    const other = await startTestSite({}, { path });
    const visitor = siteVisitor(other.url);
    const { html, headers } = await visitor.get('/');
    const targets = [...html.matchAll(/(?:href|src|action)="([^"#]*)/g)].map(([, target = '']) => target);
    const own = targets.filter((target) => target !== '' && target !== 'data:,');
    expect(own.length).toBeGreaterThan(10);
    expect(own.filter((target) => !target.startsWith(`${path}/`))).toEqual([]);
    expect(headers.get('set-cookie')).toContain(`Path=${path || '/'};`);
    const person = await other.person();
    expect(await visitor.logIn(person.login, person.password)).toMatchObject({ location: '/dashboard' });
    await other.stop();
  });
});

describe('forms', () => {
  it('every form of every page carries a nonce', async () => {
    const paths = ['/', '/posts/points-for-showing-up', '/shop', '/perks', '/profile', '/share?url=/site/'];
    const more = ['/dashboard?tab=streak', '/dashboard?tab=perks', '/admin/settings', '/admin/posts'];
    for (const path of [...paths, ...more]) {
      const { html } = await admin.get(path);
      const forms = formsIn(html);
      expect(forms.length, path).toBeGreaterThan(0);
      expect(forms.filter(({ fields }) => !/^[0-9a-f]{32,}$/.test(fields._nonce ?? ''))).toEqual([]);
    }
    for (const path of ['/login', '/register'])
      expect(formsIn((await guest.get(path)).html)[0]?.fields._nonce).toMatch(/^[0-9a-f]{32,}$/);
  });

  it.each([
    ['/actions/checkin', {}],
    ['/actions/redeem', { perkId: 'x' }],
    ['/actions/claim-milestone', { milestoneDays: '7' }],
    ['/posts/points-for-showing-up/comments', { body: 'hello' }],
    ['/shop/orders', { product: '1', quantity: '1' }],
    ['/register', { login: 'eve', email: 'eve@people.example', password: 'long enough' }],
    ['/profile/application-passwords', { name: 'x' }],
    ['/profile/application-passwords/remove', { id: '1' }],
    ['/share', { url: '/site/' }],
    ['/admin/settings', { brandId: '' }],
    ['/admin/settings/test', { testEmail: 'a@people.example', testEvent: 'x' }],
    ['/admin/posts', { title: 'x', body: 'x' }],
    ['/admin/posts/publish', { id: '1' }],
    ['/admin/posts/withdraw', { id: '1' }],
    ['/logout', {}],
  ])('%s refuses what has no nonce, a wrong one, or comes from another site', async (path, fields) => {
    const action = path.startsWith('/admin/settings') ? 'settings' : path === '/share' ? 'ajax' : 'form';
    const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const caller = site.site.accounts.callerOf(new Request(site.url, { headers: { cookie } }));
    const _nonce = site.site.accounts.nonceFor(caller, action);
    const sent = { ...fields } as Record<string, string>;
    expect((await admin.post(path, sent)).status).toBe(403);
    expect((await admin.post(path, { ...sent, _nonce: `0${_nonce.slice(1)}0` })).status).toBe(403);
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    expect((await admin.post(path, { ...sent, _nonce }, foreign)).status).toBe(403);
    expect((await admin.get('/profile')).status).toBe(200);
  });

  it.each([
    ...['//evil.example', '/\\evil.example', 'https://evil.example', '/%09/evil', '/\t/evil.example', ''],
    ...['/.//evil.example/', '/x/..//evil.example/', '/%2e//evil.example/'],
  ])('no form and no link leads to another site: %j', async (back) => {
    const answer = await member.submit('/dashboard?tab=balance', '/logout', {});
    expect(answer.location).toBe('/');
    const person = await site.person();
    await member.logIn(person.login, person.password);
    const done = await member.submit('/dashboard?tab=streak', '/actions/checkin', { back });
    const target = new URL(done.headers.get('location') ?? '', site.url);
    expect([done.status, target.origin]).toEqual([303, new URL(site.url).origin]);
    expect((await guest.get(`/share?url=${encodeURIComponent(back)}`)).html).not.toContain('evil.example/');
    // Who is logged in already is led on by the link alone.
    const led = await member.get(`/login?next=${encodeURIComponent(back)}`);
    const next = new URL(led.headers.get('location') ?? '', site.url);
    expect([led.status, next.origin]).toEqual([303, new URL(site.url).origin]);
  });

  it('a form that is too long is refused', async () => {
    const answer = await member.post('/shop/orders', { product: 'x'.repeat(70_000) });
    expect(answer.status).toBe(413);
  });
});

describe('what people write is text', () => {
  it('a display name, a comment, a title and an event name are shown as they were written', async () => {
    const person = { login: 'mallory', email: 'mallory@people.example', password: 'long enough' };
    await site.site.accounts.addUser({ ...person, displayName: EVIL });
    const mallory = siteVisitor(site.url);
    await mallory.logIn(person.login, person.password);
    await mallory.submit('/posts/points-for-showing-up', '/posts/points-for-showing-up/comments', {
      body: `${EVIL} [rewards_balance] " onmouseover="x`,
    });
    const slug = await publish(`Title ${EVIL}`, `Text ${EVIL}\n\n- ${EVIL}\n\n> ${EVIL}\n\n## ${EVIL}`);
    for (const path of ['/posts/points-for-showing-up', `/posts/${slug}`, '/', '/profile', '/admin/posts']) {
      for (const visitor of [mallory, admin]) {
        const { html } = await visitor.get(path);
        expect(html, path).not.toContain('<script>');
        expect(html, path).not.toContain('" onmouseover');
      }
    }
    const { html } = await guest.get('/posts/points-for-showing-up');
    expect(textOf(html)).toContain(`${EVIL} [rewards_balance]`);
    await admin.submit('/admin/settings', '/admin/settings/test', {
      testEmail: 'a@people.example',
      testEvent: EVIL,
    });
    const settings = await admin.get('/admin/settings');
    expect(settings.html).not.toContain('<script>');
    expect(textOf(settings.html)).toContain('Connection test failed');
  });

  it('so is the name of a perk, and its description', async () => {
    const perk = { name: EVIL, description: EVIL, category: 'digital', cost: 1 };
    expect((await service.control('/perks', { brand: 'demo.example', ...perk })).status).toBeLessThan(300);
    for (const visitor of [guest, member]) {
      const { html } = await visitor.get('/perks?category=digital');
      expect(html).not.toContain('<script>');
      expect(textOf(html)).toContain(EVIL);
    }
  });
});

describe('what happens on the site', () => {
  it('a post is announced once: not when it is changed, withdrawn and published again', async () => {
    const before = (await eventLines('article_published', 'admin@people.example')).length;
    await admin.submit('/admin/posts', '/admin/posts', { title: 'A draft', body: 'Soon.' });
    expect(await eventLines('article_published', 'admin@people.example')).toHaveLength(before);
    const [post] = site.site.content.posts.all();
    const path = `/posts/${post?.slug}`;
    expect((await guest.get(path)).status).toBe(404);
    expect((await admin.get(path)).html).toContain('<strong>Draft</strong>');
    const id = String(post?.id);
    for (const step of ['publish', 'withdraw', 'publish'])
      await admin.post(`/admin/posts/${step}`, { id, _nonce: await formNonce(admin) });
    const changed = { id, title: 'A post', body: 'Now.', publish: 'yes' };
    await admin.post('/admin/posts', { ...changed, _nonce: await formNonce(admin) });
    expect((await guest.get(path)).html).toContain('<h1>A post</h1>');
    expect(await eventLines('article_published', 'admin@people.example')).toHaveLength(before + 1);
  });

  it('a comment, an order and a registration are events of the user, by their e-mail', async () => {
    const visitor = siteVisitor(site.url);
    const email = 'greta@people.example';
    const wish = { login: 'greta', email, displayName: 'Somebody Else', password: 'long enough' };
    expect(await visitor.submit('/register', '/register', wish)).toMatchObject({ location: '/dashboard' });
    await visitor.submit('/posts/a-mug-for-the-windowsill', '/posts/a-mug-for-the-windowsill/comments', {
      body: 'Mine has three chips.',
    });
    expect(await visitor.notice('/posts/a-mug-for-the-windowsill')).toBe('Thank you for your comment.');
    const order = { product: '3', quantity: '2' };
    await visitor.submit('/shop', '/shop/orders', order);
    const { html } = await visitor.get('/shop');
    expect(textOf(html)).toMatch(/Order \d+ is paid: Canvas rucksack, \$190\.00\./);
    expect(await eventLines('account_creation', email)).toHaveLength(1);
    expect(await eventLines('daily_login', email)).toHaveLength(1);
    expect(await eventLines('review_submission', email)).toHaveLength(1);
    const [purchase] = await eventLines('purchase', email);
    expect(purchase).toContain('190 RWT');
  });

  it.each([
    [
      '/posts/points-for-showing-up',
      '/posts/points-for-showing-up/comments',
      { body: ' ' },
      'The comment is empty',
    ],
    [
      '/posts/points-for-showing-up',
      '/posts/points-for-showing-up/comments',
      { body: 'x'.repeat(2_001) },
      'The comment has 2001 characters. Use at most 2000.',
    ],
    ['/shop', '/shop/orders', { quantity: '0' }, 'The quantity cannot be ordered. Order between 1 and 20.'],
    ['/shop', '/shop/orders', { quantity: '1.5' }, 'The quantity cannot be ordered'],
    ['/shop', '/shop/orders', { product: '99' }, 'The shop has no such product'],
  ])('%s says what is wrong: %s %j', async (page, action, fields, message) => {
    await member.submit(page, action, fields);
    expect(await member.notice(page)).toContain(message);
    expect(await member.notice(page)).toBe('');
  });

  it.each([
    [
      '/posts/why-we-repair-what-we-sell',
      '/comments',
      { body: 'Again!' },
      'You wrote 30 comments in the last hour',
    ],
    ['/shop', '/orders', { product: '1', quantity: '1' }, 'You placed 30 orders in the last hour'],
  ])(
    '%s takes 30 of %s in an hour from one user, and then says so',
    { timeout: 60_000 },
    async (page, path, fields, text) => {
      const person = await site.person();
      const visitor = siteVisitor(site.url);
      await visitor.logIn(person.login, person.password);
      const wish = { ...fields, _nonce: await formNonce(visitor) };
      for (let nth = 0; nth < 30; nth += 1) await visitor.post(page + path, wish);
      expect(await visitor.notice(page)).not.toContain('in the last hour');
      await visitor.post(page + path, wish);
      expect(await visitor.notice(page)).toContain(`${text}. Wait a while`);
      site.clock.advance(3_600_001);
      await visitor.post(page + path, wish);
      expect(await visitor.notice(page)).not.toContain('in the last hour');
    },
  );

  it('a registration that is refused says what is wrong, keeps what was typed, and makes no account', async () => {
    const wish = { login: 'x', email: 'nobody', displayName: 'Kept', password: 'short' };
    const { status, html } = await siteVisitor(site.url).submit('/register', '/register', wish);
    expect(status).toBe(400);
    expect(html.match(/aria-invalid="true"/g)).toHaveLength(3);
    expect(html).toContain('value="Kept"');
    expect(html).not.toContain('short"');
  });

  it('an application password is shown once, works in a program, and can be removed', async () => {
    const person = await site.person();
    const visitor = siteVisitor(site.url);
    await visitor.logIn(person.login, person.password);
    const { html } = await visitor.submit('/profile', '/profile/application-passwords', {
      name: 'My script',
    });
    const secret = textOf(/<code class="secret">(.*?)<\/code>/.exec(html)?.[1] ?? '');
    const authorization = `Basic ${Buffer.from(`${person.login}:${secret}`).toString('base64')}`;
    const checkIn = () =>
      site.request('/wp-json/rewards/v1/checkin', { method: 'POST', headers: { authorization } });
    expect((await checkIn()).status).toBe(200);
    const profile = await visitor.get('/profile');
    expect(profile.html).toContain('My script');
    expect(profile.html).not.toContain(secret);
    for (const { action, fields } of formsIn(profile.html))
      if (action.endsWith('/remove')) await visitor.post('/profile/application-passwords/remove', fields);
    expect((await checkIn()).status).toBe(401);
  });
});

describe('the content of a new store', () => {
  const clock = adjustableClock();
  const store = openSiteStore(':memory:');
  const deps = { store, clock, random: secureRandom(clock), log: silentLog };
  const settings = { brandId: '', eventHandlerUrl: '', servicesUrl: '', domain: '', apiKey: '', events: [] };
  const opened = (content: 'demo' | 'empty') =>
    createSite(deps, { url, content, settings: { ...settings, debugLogging: false } });
  const url = 'http://shop.example';
  const front = async (content: 'demo' | 'empty') => {
    const answer = await opened(content).fetch(new Request(`${url}/`));
    return answer.text();
  };

  it('is empty where the host says so; the demo has posts and products, once in the life of the store', async () => {
    const empty = await front('empty');
    expect(empty).toContain('Nothing has been published yet.');
    expect(empty).toContain('The shelves are empty.');
    const demo = await front('demo');
    expect(demo.match(/<li><article>/g)).toHaveLength(3);
    expect(demo.match(/class="card product"/g)).toHaveLength(3);
    opened('demo').content.posts.withdraw(1);
    expect((await front('demo')).match(/<li><article>/g)).toHaveLength(2);
    store.close();
  });
});

/** A nonce for forms, from a page that has one. */
async function formNonce(visitor: SiteVisitor): Promise<string> {
  const { html } = await visitor.get('/profile');
  return formsIn(html)[0]?.fields._nonce ?? '';
}
