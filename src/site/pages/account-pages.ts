/** `/login`, `/register` and `/profile`. The form of the log-in goes to `rest/log-in.ts`, which leads back here with what went wrong. */
import type { Context, Hono } from 'hono';
import { nextPage } from '../accounts/own-pages.ts';
import type { AccountProblem } from '../accounts/user-store.ts';
import { addressIn } from '../rest/address.ts';
import { field, guard, whyIn } from './fields.ts';
import { day } from './format.ts';
import { type Html, html } from './html.ts';
import type { PageKit, SentForm } from './page-kit.ts';
import type { Visit } from './visit.ts';

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

/** `/register`: makes an account and logs it in. */
export function addRegister(app: Hono, kit: PageKit): void {
  app.get('/register', (context) => {
    const visit = kit.visitOf(context);
    const next = nextPage(context.req.query('next'));
    if (visit.user) return kit.goBack({ visit }, visit.at(next));
    return showRegistration(kit, context, { next, problems: [], values: {} });
  });
  app.post('/register', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    return register(kit, context, form);
  });
}

async function register(kit: PageKit, context: Context, { visit, field: sent }: SentForm): Promise<Response> {
  const next = nextPage(sent('next'));
  const values = { login: sent('login'), email: sent('email'), displayName: sent('displayName') };
  const password = sent('password');
  const address = addressIn(context.env);
  const made = await kit.accounts.register({ ...values, password, address });
  if ('problems' in made) return showRegistration(kit, context, { next, problems: made.problems, values });
  const entered = await kit.accounts.logIn({
    login: made.user.login,
    password,
    caller: visit.caller,
    address,
  });
  if (entered.outcome !== 'in') return kit.goBack({ visit }, visit.at('/login'));
  const answer = kit.goBack({ visit }, visit.at(next));
  answer.headers.append('Set-Cookie', entered.cookie);
  return answer;
}

interface Shown {
  next: string;
  problems: AccountProblem[];
  values: { login?: string; email?: string; displayName?: string };
}

function showRegistration(kit: PageKit, context: Context, { next, problems, values }: Shown): Response {
  const visit = kit.visitOf(context);
  return kit.page(context, {
    status: problems.length > 0 ? 400 : 200,
    title: 'Join',
    section: '/register',
    main: html`<div class="narrow"><div class="page-head"><h1>Join</h1><p class="lead">Your e-mail is your member card: points belong to it.</p></div>
${problems.length > 0 && html`<p class="notice bad" role="alert">${problems.map(({ message }) => message).join(' ')}</p>`}
<form class="card fields" method="post" action="${visit.at('/register')}">${guard(visit)}<input type="hidden" name="next" value="${next}">
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'email', required: true, maxLength: 254, value: values.email, why: whyIn(problems, 'email') })}
${field({ name: 'login', label: 'Login', autocomplete: 'username', required: true, maxLength: 40, value: values.login, why: whyIn(problems, 'login'), hint: 'Letters, digits, dots, hyphens and underscores.' })}
${field({ name: 'displayName', label: 'Your name', autocomplete: 'name', maxLength: 60, value: values.displayName, why: whyIn(problems, 'displayName'), hint: 'As others see it, below your comments.' })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password', required: true, maxLength: 200, why: whyIn(problems, 'password'), hint: 'At least 8 characters. A sentence is better than a word.' })}
<button type="submit">Make my account</button>
<p>You have one? <a href="${visit.at('/login')}">Log in</a></p></form></div>`,
  });
}

/** More than anybody has programs; an old one is removed before a new one is made. */
const PASSWORDS_MAX = 20;

/** `/profile`: who the user is, and their application passwords. */
export function addProfile(app: Hono, kit: PageKit): void {
  const { accounts } = kit;
  app.get('/profile', (context) => {
    const visit = kit.visitOf(context);
    return visit.user ? showProfile(kit, context) : kit.goBack({ visit }, visit.comingBack('/login'));
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
    return showProfile(kit, context, password);
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

function showProfile(kit: PageKit, context: Context, made?: string): Response {
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
