/** Shortcodes in posts and in pages of a host site: each with its parameters, and what stands there instead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../kits/service/service.ts';
import { startTestSite, type TestSite } from '../kits/site/site.ts';
import { type SiteVisitor, siteVisitor, textOf } from '../kits/site/site-visitor.ts';

let service: TestService;
let site: TestSite;
let guest: SiteVisitor;
let member: SiteVisitor;
let admin: SiteVisitor;

beforeAll(async () => {
  // At noon in the middle of a week: neither ends meanwhile.
  service = await startTestService({ clockStartMs: Date.UTC(2031, 0, 15, 12) });
  const { events: eventHandlerUrl, services: servicesUrl } = service.ready.urls;
  site = await startTestSite({ brandId: service.brand.brandId, eventHandlerUrl, servicesUrl });
  const person = await site.person();
  const keeper = { login: 'keeper', email: 'keeper@people.example', displayName: 'Keeper' };
  await site.site.accounts.addUser({ ...keeper, password: 'all of the keys', role: 'administrator' });
  [guest, member, admin] = [siteVisitor(site.url), siteVisitor(site.url), siteVisitor(site.url)];
  await member.logIn(person.login, person.password);
  await admin.logIn('keeper', 'all of the keys');
  const people = [person.email, 'second@people.example', 'third@people.example'];
  const events = ['referral', 'first_purchase', 'newsletter_signup'];
  for (const [index, userEmail] of people.entries())
    for (const eventType of events.slice(index)) await service.event({ userEmail, eventType });
  await member.submit('/dashboard?tab=streak', '/actions/checkin');
});
afterAll(async () => {
  await site?.stop();
  await service?.stop();
});

/** Publishes a post with the text, and opens it. */
async function posted(body: string, visitor = guest): Promise<string> {
  const written = site.site.content.posts.add(null, { title: 'A post', body });
  if (!written.ok) throw new Error('the post was not taken');
  site.site.content.posts.publish(written.value.id);
  const { html } = await visitor.get(`/posts/${written.value.slug}`);
  return html;
}
const rowsIn = (html: string) =>
  [...html.matchAll(/<tr class="[^"]*"><td>(.*?)<\/td><td>(.*?)<\/td><td class="number">(.*?)<\/td>/g)].map(
    ([, rank = '', name = '', value = '']) => [rank, textOf(name).replace(' (you)', ''), textOf(value)],
  );
const perksIn = (html: string) =>
  [...html.matchAll(/<article class="rw-perk">[\s\S]*?<h3>(.*?)<\/h3>/g)].map(([, name = '']) =>
    textOf(name),
  );

describe('[rewards_leaderboard]', () => {
  it.each([
    ['', 'rwt_earned', 'week', 10],
    ['metric=rwt_earned', 'rwt_earned', 'week', 10],
    ['metric=activity', 'activity', 'week', 10],
    ['metric=streak', 'streak', 'week', 10],
    ['metric="claims"', 'claims', 'week', 10],
    ["period='month'", 'rwt_earned', 'month', 10],
    ['period=all', 'rwt_earned', 'all', 10],
    ['limit=2', 'rwt_earned', 'week', 2],
    ['metric=claims period=all limit=1', 'claims', 'all', 1],
  ])('with %j shows the rows that the API returns', async (given, metric, period, limit) => {
    const html = await posted(`Look:\n\n[rewards_leaderboard ${given}]\n\nSo it is.`);
    const query = new URLSearchParams({ metric, period, limit: String(limit) });
    const { body } = await site.request(`/wp-json/rewards/v1/leaderboard?${query}`);
    type Entry = { rank: number; displayName: string; formattedValue: string };
    const rows = body.leaderboard.map((one: Entry) => [
      String(one.rank),
      one.displayName,
      one.formattedValue,
    ]);
    expect(rows.length).toBeGreaterThan(0);
    expect(rowsIn(html)).toEqual(rows);
    expect(html).toContain('<p>Look:</p>');
    expect(html).toContain('<p>So it is.</p>');
  });

  it.each([
    ['metric=money', '“money” is not a metric, “rwt_earned” is shown'],
    ['period=year', '“year” is not a period, “week” is shown'],
    ['limit=0', '“0” is not a limit, 10 are shown'],
    ['limit=many', '“many” is not a limit, 10 are shown'],
    ['limit=101', '“101” is not a limit, 10 are shown'],
    ['size=3', 'the shortcode has no parameter “size”; it takes metric, period, limit.'],
  ])('with %j falls back, and tells administrators alone', async (given, note) => {
    const html = await posted(`[rewards_leaderboard ${given}]`, admin);
    expect(textOf(html)).toContain(note);
    expect(rowsIn(html).length).toBeGreaterThan(1);
    for (const visitor of [guest, member])
      expect(textOf(await posted(`[rewards_leaderboard ${given}]`, visitor))).not.toContain(
        'For administrators',
      );
  });

  it("the page of its own takes the same from its address, and marks the member's own row", async () => {
    const { html } = await member.get('/leaderboard?metric=streak&period=all');
    expect(html).toContain('<option value="streak" selected>');
    expect(html).toMatch(/<tr class="me"><td>1<\/td><td>someone-[^<]* \(you\)<\/td>/);
  });
});

describe('[rewards_perks]', () => {
  it.each([
    ['', 5],
    ['category=all', 5],
    ['category=digital', 2],
    ['category=physical', 2],
    ['category=exclusive', 1],
  ])('with %j shows %i perks', async (given, count) => {
    const names = perksIn(await posted(`[rewards_perks ${given}]`));
    const { body } = await service.request(`/perks/${service.brand.brandId}`);
    const category = given.split('=')[1] ?? 'all';
    const wanted = body.perks.filter((perk: { category: string }) =>
      [perk.category, 'all'].includes(category),
    );
    expect(names).toHaveLength(count);
    expect(names.sort()).toEqual(wanted.map(({ name }: { name: string }) => name).sort());
  });

  it('with an unknown category shows all, and tells administrators', async () => {
    const html = await posted('[rewards_perks category=free]', admin);
    expect(perksIn(html)).toHaveLength(5);
    expect(textOf(html)).toContain(
      '“free” is not a category, “all” is shown; use all, digital, physical, exclusive.',
    );
  });

  it('a guest is asked to log in, a member redeems what the balance allows', async () => {
    expect(await posted('[rewards_perks]')).toContain('Log in to redeem');
    const html = await posted('[rewards_perks]', member);
    expect(html).toMatch(/<button type="submit">Redeem<span class="hidden"> Ten percent off/);
    expect(textOf(html)).toMatch(/[\d,]+ RWT to go/);
  });
});

describe('the others', () => {
  it('balance and streak are those of the logged-in user', async () => {
    const html = textOf(await posted('[rewards_balance]\n\n[rewards_streak]', member));
    expect(html).toContain('Your balance 735 RWT');
    expect(html).toContain('1 day in a row');
    expect(html).toContain('6 more days to a bonus of 100 RWT');
  });

  it.each([
    ['[rewards_balance]', 'Log in to see your balance.'],
    ['[rewards_streak]', 'Log in to see your streak and check in.'],
    ['[rewards_dashboard]', 'Log in to see your rewards.'],
  ])('%s invites a guest', async (shortcode, text) => {
    const html = await posted(shortcode);
    expect(textOf(html)).toContain(text);
    expect(html).toMatch(/href="\/site\/login\?next=%2Fposts%2Fa-post-?\d*"/);
  });

  it('the dashboard has five tabs, each with an address', async () => {
    const titles = ['balance', 'streak', 'RWT earned', 'Perks', 'achievements'];
    for (const [index, tab] of ['balance', 'streak', 'leaderboard', 'perks', 'achievements'].entries()) {
      const { html } = await member.get(`/dashboard?tab=${tab}`);
      expect(html).toContain(`href="/site/dashboard?tab=${tab}" aria-current="page"`);
      expect(/<h2[^>]*>(.*?)<\/h2>/.exec(html)?.[1]).toContain(titles[index]);
    }
    expect((await member.get('/dashboard?tab=nonsense')).html).toContain('?tab=balance" aria-current="page"');
  });

  it('two brackets and code show a shortcode as it stands; each has an id of its own', async () => {
    const html = await posted(
      'Write [[rewards_balance]] or [rewards_unknown].\n\n[rewards_streak]\n\n[rewards_streak]',
    );
    expect(html).toContain('<p>Write [rewards_balance] or [rewards_unknown].</p>');
    expect(html).toContain('id="rewards-streak"');
    expect(html).toContain('id="rewards-streak-2"');
  });
});

describe('a page of a host site', () => {
  const page = `<head></head><p title="[rewards_balance]">[rewards_balance]</p><code>[rewards_streak]</code>
<!-- [rewards_streak] --><p> [rewards_leaderboard limit=&quot;1&quot;] </p><script>"[rewards_perks]"</script>`;
  const asked = (visitor: SiteVisitor) =>
    new Request(`${site.url}/of/the/host?page=2`, {
      headers: { cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });

  it('has its shortcodes expanded, in text alone', async () => {
    const html = await site.site.expandShortcodes(page, asked(member));
    expect(html).toContain('<head></head><p title="[rewards_balance]"><section');
    expect(html).not.toMatch(/<p>\s*<section/);
    for (const kept of ['<code>[rewards_streak]</code>', '<!-- [rewards_streak] -->', '"[rewards_perks]"'])
      expect(html).toContain(kept);
    expect(rowsIn(html)).toHaveLength(1);
    expect(textOf(html)).toContain('735 RWT');
  });

  it('leads back to itself after a login or a form', async () => {
    expect(await site.site.expandShortcodes('[rewards_streak]', asked(guest))).toContain(
      'next=%2Fof%2Fthe%2Fhost%3Fpage%3D2',
    );
    const html = await site.site.expandShortcodes('[rewards_perks]', asked(member));
    expect(html).toContain('name="back" value="/site/of/the/host?page=2"');
  });

  it('gets style, script and what the share button needs', () => {
    const tags = site.site.headTags(asked(member));
    expect(tags).toMatch(/<link rel="stylesheet" href="\/site\/assets\/site\.[0-9a-f]+\.css">/);
    expect(tags).toMatch(/<script src="\/site\/assets\/site\.[0-9a-f]+\.js" defer><\/script>/);
    expect(textOf(/content="([^"]*)"/.exec(tags)?.[1] ?? '')).toContain('"isLoggedIn":true');
  });
});

describe('without a service', () => {
  const every = ['balance', 'streak', 'leaderboard', 'perks', 'dashboard'];

  it.each([
    ['is not configured', {}, 'Rewards are not set up on this site yet.', '/admin/settings'],
    [
      'cannot reach it',
      {
        brandId: '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
        eventHandlerUrl: 'http://127.0.0.1:1',
        servicesUrl: 'http://127.0.0.1:1',
      },
      'The rewards service does not answer just now. Nothing is lost: try again in a minute.',
      'For administrators:',
    ],
  ])('a site that %s says so in each shortcode', async (_, settings, text, forAdministrators) => {
    const lonely = await startTestSite(settings);
    const root = { login: 'root', email: 'root@people.example', displayName: 'Root' };
    await lonely.site.accounts.addUser({ ...root, password: 'all of the keys', role: 'administrator' });
    const person = await lonely.person();
    const [user, keeper] = [siteVisitor(lonely.url), siteVisitor(lonely.url)];
    await user.logIn(person.login, person.password);
    await keeper.logIn('root', 'all of the keys');
    const body = every.map((name) => `[rewards_${name}]`).join('\n\n');
    const written = lonely.site.content.posts.add(null, { title: 'All', body });
    if (written.ok) lonely.site.content.posts.publish(written.value.id);
    const seen = (await user.get('/posts/all')).html;
    expect(textOf(seen).split(text)).toHaveLength(every.length + 1);
    const main = (html: string) => html.slice(html.indexOf('<main'), html.indexOf('</main>'));
    expect(main(seen)).not.toContain(forAdministrators);
    expect(main((await keeper.get('/posts/all')).html)).toContain(forAdministrators);
    await lonely.stop();
  });
});
