/** `/dashboard`, `/leaderboard`, `/perks` and `/share`: shortcodes as pages of their own, and what their buttons do without script. */
import type { Context, Hono } from 'hono';
import { isEmail, type SiteUser, userOf } from '../accounts/users.ts';
import { metricNames, type Outcome, type Plugin, periodNames } from '../plugin/plugin.ts';
import { addressIn } from '../rest/address.ts';
import { type CallName, callNames, doneText } from './call-form.ts';
import { field, guard, select } from './fields.ts';
import { rwt, spelledOut } from './format.ts';
import { html } from './html.ts';
import { type PageKit, type SentForm, shareEventOf } from './page-kit.ts';
import { leaderboardWish, perkCategory } from './shortcodes/shortcode-parameters.ts';
import { perkCategories } from './shortcodes/shortcode-views.ts';
import { ownPath } from './visit.ts';

export function addRewardPages(app: Hono, kit: PageKit): void {
  app.get('/dashboard', async (context) => {
    const visit = kit.visitOf(context);
    return kit.page(context, {
      title: 'My rewards',
      section: '/dashboard',
      main: html`<div class="page-head"><h1>My rewards</h1></div>${await kit.draw(visit, 'dashboard')}`,
    });
  });
  app.get('/leaderboard', async (context) => {
    const visit = kit.visitOf(context);
    const given = context.req.query();
    const { metric, period } = leaderboardWish(given).value;
    const board = await kit.draw(visit, 'leaderboard', { ...given, limit: given.limit ?? '25' });
    return kit.page(context, {
      title: 'Leaderboard',
      section: '/leaderboard',
      main: html`<div class="article stack"><div class="page-head"><h1>Leaderboard</h1><p class="lead">Who dropped by, wrote and collected most.</p></div>
<form class="rw-choose" method="get" action="${visit.at('/leaderboard')}">
${select({ name: 'metric', label: 'What counts', value: metric, options: metricNames })}
${select({ name: 'period', label: 'Since when', value: period, options: periodNames })}
<button class="quiet" type="submit">Show</button></form>
${board}</div>`,
    });
  });
  app.get('/perks', async (context) => {
    const visit = kit.visitOf(context);
    const given = context.req.query();
    const { value: open } = perkCategory(given);
    return kit.page(context, {
      title: 'Perks',
      section: '/perks',
      main: html`<div class="stack"><div class="page-head"><h1>Perks</h1><p class="lead">Turn what you earned into something to use, wear or remember.</p></div>
<nav aria-label="Kinds of perks"><ul class="rw-filter">${perkCategories.map(
        (category) =>
          html`<li><a href="${visit.at('/perks')}?category=${category}"${category === open && html` aria-current="page"`}>${spelledOut(category)}</a></li>`,
      )}</ul></nav>
${await kit.draw(visit, 'perks', given)}</div>`,
    });
  });
}

/** `/share?url=`: what the share button leads to without script. */
export function addShare(app: Hono, kit: PageKit): void {
  app.get('/share', (context) => show(kit, context, ownPath(kit.visitOf(context), context.req.query('url'))));
  app.post('/share', async (context) => {
    const form = await kit.form(context, 'ajax');
    if (form instanceof Response) return form;
    const { visit, field: sent } = form;
    const url = ownPath(visit, sent('url'));
    const eventName = shareEventOf(kit.plugin);
    // A member shares as themselves, whatever the form says.
    const email = userOf(visit.caller)?.email ?? sent('email').trim();
    const back = `${visit.at('/share')}?${new URLSearchParams({ url })}`;
    const say = (text: string, isBad = true) => kit.goBack(form, back, { text, isBad });
    if (eventName === undefined) return say('Sharing earns nothing at the moment.');
    if (!isEmail(email)) return say('Write your e-mail, such as ada@mail.example.');
    if (!kit.mayCall(addressIn(context.env)))
      return say('Too many requests came from your address. Wait a minute.');
    const call = await kit.plugin.customEvent(eventName, { email, metadata: { url: linkOf(kit, url) } });
    if (!call.success) return say(call.message);
    const reward = call.reward ? ` You earned ${rwt(call.reward)}.` : '';
    return say(`Thank you for sharing.${reward}`, false);
  });
}

const linkOf = ({ config }: PageKit, path: string) => new URL(path, config.url).href;

function show(kit: PageKit, context: Context, url: string): Response {
  const visit = kit.visitOf(context);
  const hasEvent = shareEventOf(kit.plugin) !== undefined;
  return kit.page(context, {
    title: 'Share',
    main: html`<div class="narrow"><div class="page-head"><h1>Share this page</h1><p class="lead">Copy the link, and send it to somebody who would like it.</p></div>
<p class="card"><a class="mono" href="${url}">${linkOf(kit, url)}</a></p>
${
  hasEvent &&
  html`<form class="card fields" method="post" action="${visit.at('/share')}">${guard(visit, 'ajax')}<input type="hidden" name="url" value="${url}">
${visit.user ? html`<p>You share as ${visit.user.email}.</p>` : field({ name: 'email', label: 'Your e-mail', type: 'email', autocomplete: 'email', required: true, maxLength: 254, hint: 'The points for sharing belong to it.' })}
<button type="submit">I shared it</button></form>`
}
<p><a href="${url}">Back to the page</a></p></div>`,
  });
}

type Call = (plugin: Plugin, user: SiteUser, form: SentForm) => Promise<Outcome<object>>;

const calls: Record<CallName, Call> = {
  checkin: (plugin, user) => plugin.checkIn(user),
  redeem: (plugin, user, { field }) => plugin.redeem(user, field('perkId').slice(0, 64)),
  'claim-milestone': (plugin, user, { field }) =>
    plugin.claimMilestone(user, Number(field('milestoneDays').slice(0, 4)) || 0),
};

/** What the buttons of shortcodes do without script: a plain form, and a notice on the page from which it came. */
export function addCallActions(app: Hono, kit: PageKit): void {
  for (const name of callNames)
    app.post(`/actions/${name}`, async (context) => {
      const form = await kit.form(context);
      if (form instanceof Response) return form;
      const { visit, field } = form;
      if (!visit.user) return kit.goBack(form, visit.at('/login'));
      const outcome = await calls[name](kit.plugin, visit.user, form);
      const notice = outcome.ok
        ? { text: doneText(name, { ...outcome.value }) }
        : { text: outcome.refusal.message, isBad: true };
      return kit.goBack(form, field('back'), notice);
    });
}
