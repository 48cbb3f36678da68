/** What every page needs: who visits, the frame around it, guarded forms, and the way back after them. */
import type { Context } from 'hono';
import type { Accounts } from '../accounts/create-accounts.ts';
import { type NonceAction, userOf } from '../accounts/users.ts';
import type { Content } from '../content/create-content.ts';
import type { Plugin } from '../plugin/plugin.ts';
import { readFields } from '../rest/read-fields.ts';
import { type Html, html } from './html.ts';
import { layout, type PageContent, pagePolicy } from './layout.ts';
import type { Notices } from './notices.ts';
import { drawShortcode, type ShortcodeName } from './shortcodes/draw-shortcode.ts';
import type { Parameters } from './shortcodes/shortcode-parameters.ts';
import { ownPath, type Visit } from './visit.ts';

export interface PageDeps {
  plugin: Plugin;
  accounts: Accounts;
  content: Content;
  notices: Notices;
  now: () => number;
  /** Whether the address may ask the service once more. */
  mayCall(address: string | undefined): boolean;
}

export interface PageConfig {
  /** Where browsers find the site, without a slash at the end. */
  url: string;
  /** What the site calls itself. */
  name: string;
}

type Status = 200 | 400 | 401 | 403 | 404 | 413 | 429;

/** A form that came from a page of ours. */
export interface SentForm {
  visit: Visit;
  /** Empty where the form has no such field. */
  field(name: string): string;
  names: string[];
}

export interface PageKit extends PageDeps {
  config: PageConfig;
  visitOf(context: Context): Visit;
  page(context: Context, content: PageContent & { status?: Status }): Response;
  /** What a form says, or the answer to one that other pages sent. */
  form(context: Context, action?: NonceAction): Promise<SentForm | Response>;
  /** Back to a page of this host, with something to say there. */
  goBack(form: Pick<SentForm, 'visit'>, path: string, notice?: { text: string; isBad?: boolean }): Response;
  notFound(context: Context): Response;
  draw(visit: Visit, name: ShortcodeName, given?: Parameters): Promise<Html>;
}

const WELCOMED = 'visit';

export function createPageKit(deps: PageDeps, config: PageConfig): PageKit {
  const { accounts, plugin } = deps;
  const basePath = new URL(config.url).pathname.replace(/\/+$/, '');
  const visitFor = createVisits(deps, basePath);

  /** A guest's first page brings the cookie to which its nonces are bound. */
  function visitOf(context: Context): Visit {
    const known = context.get(WELCOMED) as Visit | undefined;
    if (known) return known;
    const { caller, cookie } = accounts.welcome(context.req.raw);
    if (cookie !== undefined) context.header('Set-Cookie', cookie, { append: true });
    const visit = visitFor(context.req.raw, caller);
    context.set(WELCOMED, visit);
    return visit;
  }

  function page(context: Context, { status = 200, ...content }: PageContent & { status?: Status }): Response {
    const visit = visitOf(context);
    const shareEvent = shareEventOf(plugin);
    const text = layout(config, visit, { ...content, shareEvent, notice: deps.notices.take(visit.caller) });
    context.header('Content-Security-Policy', pagePolicy);
    // A referrer of `no-referrer` would leave forms without their origin.
    context.header('Referrer-Policy', 'same-origin');
    context.header('X-Content-Type-Options', 'nosniff');
    context.header('Cache-Control', 'no-store');
    return context.html(String(text), status) as Response;
  }

  const wrong = (context: Context, status: Status, title: string, text: string) =>
    page(context, {
      status,
      title,
      main: html`<div class="page-head"><h1>${title}</h1><p class="lead">${text}</p></div>
<p><a class="button" href="${visitOf(context).at('/')}">Go to the front page</a></p>`,
    });

  return {
    ...deps,
    config,
    visitOf,
    page,
    form: (context, action = 'form') => readForm({ accounts, visitFor, wrong }, context, action),
    goBack({ visit }, path, notice) {
      if (notice) deps.notices.say(visit.caller, { isBad: false, ...notice });
      const headers = { Location: ownPath(visit, path), 'Cache-Control': 'no-store' };
      return new Response(null, { status: 303, headers });
    },
    notFound: (context) =>
      wrong(
        context,
        404,
        'Not found',
        'There is nothing at this address. It may have moved, or never been there.',
      ),
    draw: (visit, name, given = {}) => drawShortcode(plugin, { visit, id: `rewards-${name}`, name, given }),
  };
}

/** What a form says, after it was found to come from a page of this site, for whom it was made. */
async function readForm(
  deps: {
    accounts: Accounts;
    visitFor: ReturnType<typeof createVisits>;
    wrong(context: Context, status: Status, title: string, text: string): Response;
  },
  context: Context,
  action: NonceAction,
): Promise<SentForm | Response> {
  const { accounts, wrong } = deps;
  const request = context.req.raw;
  if (!accounts.isOwnPage(request)) {
    const text = 'Another site sent this form. Open the page here and try again.';
    return wrong(context, 403, 'Not accepted', text);
  }
  const read = await readFields(request);
  if (read.outcome === 'too_large') {
    const text = 'The form has more text than the site takes. Shorten it and send it again.';
    return wrong(context, 413, 'Too long', text);
  }
  const fields = read.outcome === 'read' ? read.fields : {};
  const field = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  const visit = deps.visitFor(request, accounts.callerOf(request));
  if (!accounts.isNonce(visit.caller, action, field('_nonce'))) {
    const text =
      'It was opened too long ago, or before you logged in or out. Open the page again and send it once more.';
    return wrong(context, 403, 'This form is too old', text);
  }
  return { visit, field, names: Object.keys(fields) };
}

/** The event that the share button sends; undefined when the settings open none to pages. */
export const shareEventOf = (plugin: Plugin): string | undefined =>
  plugin.settings.read().events.find(({ hook, enabled }) => hook === 'share' && enabled)?.eventName;

/** How a request becomes a visit. */
export const createVisits =
  ({ accounts, now }: Pick<PageDeps, 'accounts' | 'now'>, basePath: string) =>
  (request: Request, caller: Visit['caller']): Visit => {
    const user = userOf(caller);
    const { pathname, search } = new URL(request.url);
    const at = (path: string) => `${basePath}${path}`;
    const isOurs = pathname === basePath || pathname.startsWith(`${basePath}/`);
    const next = isOurs ? `${pathname}${search}`.slice(basePath.length) || '/' : '/dashboard';
    return {
      caller,
      user,
      isAdministrator: user?.role === 'administrator',
      here: `${pathname}${search}`,
      at,
      comingBack: (path) => `${at(path)}?${new URLSearchParams({ next })}`,
      nonce: (action) => accounts.nonceFor(caller, action),
      nowMs: now(),
    };
  };
