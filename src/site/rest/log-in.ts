/** POST /login and /logout: JSON for scripts and programs, a form for pages. */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Accounts } from '../accounts/create-accounts.ts';
import { nextPage } from '../accounts/own-pages.ts';
import type { SiteUser } from '../accounts/users.ts';
import { addressIn } from './address.ts';
import { type ReadFields, readFields } from './read-fields.ts';
import { refuse, refuseToWait } from './refusals.ts';

const credentials = z.object({ login: z.string().min(1).max(254), password: z.string().min(1).max(1_000) });

interface LogInDeps {
  accounts: Accounts;
  /** Path of the site, without a slash at the end. */
  basePath: string;
}

/**
 * JSON is answered with `{success, user}`, or with a refusal. A form, which needs `_nonce` for the action `form`, is
 * answered with 303: to `next`, a path of the site (else the dashboard), or back to the login page with `?problem=wrong`,
 * `?problem=wait&seconds=…` or `?problem=nonce`.
 */
export function createLogIn(deps: LogInDeps): Hono {
  const app = new Hono();
  app.post('/login', async (context) => {
    const body = await readFields(context.req.raw);
    if (body.outcome === 'too_large') return refuse('rest_body_too_large');
    if (body.outcome === 'invalid') return refuse('rest_invalid_json');
    return body.isJson ? answerScript(deps, context, body) : answerForm(deps, context, body);
  });
  return app;
}

type Read = ReadFields & { outcome: 'read' };

async function answerScript({ accounts }: LogInDeps, context: Context, { fields }: Read): Promise<Response> {
  const request = context.req.raw;
  if (!accounts.isOwnPage(request))
    return refuse('not_logged_in', { message: 'Log in on a page of this site, not of another one' });
  const sent = credentials.safeParse(fields);
  if (!sent.success)
    return refuse('rest_invalid_param', { message: 'login and password must be texts, and not empty' });
  const result = await accounts.logIn({
    ...sent.data,
    address: addressIn(context.env),
    caller: accounts.callerOf(request),
  });
  if (result.outcome === 'wait') return refuseToWait(result.waitMs);
  if (result.outcome === 'wrong')
    return refuse('not_logged_in', { message: 'The login or the password is wrong' });
  return Response.json(
    { success: true, user: shown(result.user) },
    { headers: { 'Set-Cookie': result.cookie, 'Cache-Control': 'no-store' } },
  );
}

const shown = ({ login, email, displayName, role }: SiteUser) => ({ login, email, displayName, role });

async function answerForm(deps: LogInDeps, context: Context, { fields }: Read): Promise<Response> {
  const { accounts, basePath } = deps;
  const request = context.req.raw;
  const next = nextPage(fields.next);
  const back = (problem: Record<string, string>) =>
    redirect(`${basePath}/login?${new URLSearchParams({ ...problem, next })}`);
  const caller = accounts.callerOf(request);
  const nonce = typeof fields._nonce === 'string' ? fields._nonce : '';
  if (!accounts.isOwnPage(request) || !accounts.isNonce(caller, 'form', nonce))
    return back({ problem: 'nonce' });
  const sent = credentials.safeParse(fields);
  if (!sent.success) return back({ problem: 'wrong' });
  const result = await accounts.logIn({ ...sent.data, address: addressIn(context.env), caller });
  if (result.outcome === 'wait')
    return back({ problem: 'wait', seconds: String(Math.ceil(result.waitMs / 1_000)) });
  if (result.outcome === 'wrong') return back({ problem: 'wrong' });
  return redirect(`${basePath}${next}`, result.cookie);
}

const redirect = (to: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: {
      Location: to,
      'Cache-Control': 'no-store',
      ...(cookie !== undefined && { 'Set-Cookie': cookie }),
    },
  });
