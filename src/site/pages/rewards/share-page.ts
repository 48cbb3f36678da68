/** `/share?url=`: what the share button leads to without script. */
import type { Context, Hono } from 'hono';
import { userOf } from '../../accounts/caller.ts';
import { isEmail } from '../../accounts/users.ts';
import { addressIn } from '../../rest/address.ts';
import { field, guard } from '../fields.ts';
import { rwt } from '../format.ts';
import { html } from '../html.ts';
import { type PageKit, shareEventOf } from '../page-kit.ts';
import { ownPath } from '../visit.ts';

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
