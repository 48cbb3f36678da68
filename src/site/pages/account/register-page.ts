/** `/register`: makes an account and logs it in. */
import type { Context, Hono } from 'hono';
import { nextPage } from '../../accounts/next-page.ts';
import type { AccountProblem } from '../../accounts/user-store.ts';
import { addressIn } from '../../rest/address.ts';
import { field, guard, whyIn } from '../fields.ts';
import { html } from '../html.ts';
import type { PageKit, SentForm } from '../page-kit.ts';

export function addRegister(app: Hono, kit: PageKit): void {
  app.get('/register', (context) => {
    const visit = kit.visitOf(context);
    const next = nextPage(context.req.query('next'));
    if (visit.user) return kit.goBack({ visit }, visit.at(next));
    return show(kit, context, { next, problems: [], values: {} });
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
  if ('problems' in made) return show(kit, context, { next, problems: made.problems, values });
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

function show(kit: PageKit, context: Context, { next, problems, values }: Shown): Response {
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
