/** `/profile`: who the user is, and their application passwords. */
import type { Context, Hono } from 'hono';
import { field, guard } from '../fields.ts';
import { day } from '../format.ts';
import { type Html, html } from '../html.ts';
import type { PageKit } from '../page-kit.ts';
import type { Visit } from '../visit.ts';

/** More than anybody has programs; an old one is removed before a new one is made. */
const PASSWORDS_MAX = 20;

export function addProfile(app: Hono, kit: PageKit): void {
  const { accounts } = kit;
  app.get('/profile', (context) => {
    const visit = kit.visitOf(context);
    return visit.user ? show(kit, context) : kit.goBack({ visit }, visit.comingBack('/login'));
  });
  app.post('/profile/application-passwords', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    const { visit, field: sent } = form;
    if (!visit.user) return kit.goBack(form, visit.at('/login'));
    if (accounts.listApplicationPasswords(visit.user).length >= PASSWORDS_MAX)
      return kit.goBack(form, visit.at('/profile'), {
        text: `You have ${PASSWORDS_MAX} application passwords. Remove one that you do not use any more.`,
        isBad: true,
      });
    // The answer itself shows it: it is kept nowhere, and so a redirect could not.
    const password = accounts.addApplicationPassword(visit.user.login, sent('name'));
    return show(kit, context, password);
  });
  app.post('/profile/application-passwords/remove', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    const { visit, field: sent } = form;
    if (!visit.user) return kit.goBack(form, visit.at('/login'));
    const isGone = accounts.removeApplicationPassword(visit.user, Number(sent('id')) || 0);
    const text = isGone
      ? 'Removed: programs that use it are logged out.'
      : 'You have no such application password.';
    return kit.goBack(form, visit.at('/profile'), { text, isBad: !isGone });
  });
}

function show(kit: PageKit, context: Context, made?: string): Response {
  const visit = kit.visitOf(context);
  const { user } = visit;
  return kit.page(context, {
    title: 'Profile',
    section: '/profile',
    main: html`<div class="article stack"><div class="page-head"><h1>${user?.displayName}</h1>
<p class="lead">${user?.email} · login ${user?.login}${visit.isAdministrator && ' · administrator'}</p></div>
<section class="stack" aria-labelledby="passwords"><h2 id="passwords">Application passwords</h2>
<p>A program that acts for you sends your login and one of these passwords with each request (HTTP Basic). It never needs your own password.</p>
${made !== undefined && html`<div class="notice" role="alert"><p>Copy the new password now: it is never shown again.</p><code class="secret">${made}</code></div>`}
${user && passwordList(visit, kit.accounts.listApplicationPasswords(user))}
<form class="card fields" method="post" action="${visit.at('/profile/application-passwords')}">${guard(visit)}
${field({ name: 'name', label: 'What is it for?', required: true, maxLength: 60, placeholder: 'My script' })}
<button type="submit">Make an application password</button></form></section></div>`,
  });
}

const passwordList = (visit: Visit, passwords: { id: number; name: string; createdAtMs: number }[]): Html =>
  passwords.length === 0
    ? html`<p class="dim">You have none. Make one when a program needs it.</p>`
    : html`<table><thead><tr><th scope="col">For</th><th scope="col">Made</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead><tbody>${passwords.map(
        ({ id, name, createdAtMs }) =>
          html`<tr><td>${name}</td><td>${day(createdAtMs)}</td><td class="number"><form method="post" action="${visit.at('/profile/application-passwords/remove')}">${guard(visit)}<input type="hidden" name="id" value="${id}"><button class="plain" type="submit">Remove<span class="hidden"> ${name}</span></button></form></td></tr>`,
      )}</tbody></table>`;
