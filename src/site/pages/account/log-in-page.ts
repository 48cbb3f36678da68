/** `/login` as a page; the form goes to `rest/log-in.ts`, which leads back here with what went wrong. */
import type { Hono } from 'hono';
import { nextPage } from '../../accounts/next-page.ts';
import { field, guard } from '../fields.ts';
import { html } from '../html.ts';
import type { PageKit } from '../page-kit.ts';

export function addLogIn(app: Hono, kit: PageKit): void {
  app.get('/login', (context) => {
    const visit = kit.visitOf(context);
    const next = nextPage(context.req.query('next'));
    if (visit.user) return kit.goBack({ visit }, visit.at(next));
    const why = problemText(context.req.query('problem'), context.req.query('seconds'));
    return kit.page(context, {
      title: 'Log in',
      section: '/login',
      main: html`<div class="narrow"><div class="page-head"><h1>Log in</h1></div>
${why !== undefined && html`<p class="notice bad" role="alert">${why}</p>`}
<form class="card fields" method="post" action="${visit.at('/login')}">${guard(visit)}<input type="hidden" name="next" value="${next}">
${field({ name: 'login', label: 'Login or e-mail', autocomplete: 'username', required: true, maxLength: 254 })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password', required: true, maxLength: 200 })}
<button type="submit">Log in</button>
<p>New here? <a href="${visit.at('/register')}?${String(new URLSearchParams({ next }))}">Make an account</a></p></form></div>`,
    });
  });
}

function problemText(problem: string | undefined, seconds: string | undefined): string | undefined {
  if (problem === 'wrong') return 'The login or the password is wrong. Try again.';
  if (problem === 'nonce') return 'The form was too old. Please log in again.';
  if (problem !== 'wait') return undefined;
  const wait = /^\d{1,4}$/.test(seconds ?? '') ? ` in ${seconds} seconds` : ' in a while';
  return `There were too many wrong passwords. Try again${wait}.`;
}
