/** All pages of the site, and what a host site puts into pages of its own: the plugin's style and script, and what shortcodes show. */
import { type Context, Hono } from 'hono';
import type { Accounts } from '../accounts/create-accounts.ts';
import { userOf } from '../accounts/users.ts';
import type { Plugin } from '../plugin/plugin.ts';
import { addressIn } from '../rest/address.ts';
import { addLogIn, addProfile, addRegister } from './account-pages.ts';
import { addAdminPosts, addSettings } from './admin-pages.ts';
import { assetResponse } from './assets/assets.ts';
import { addHome, addPost, addShop } from './front-pages.ts';
import { headTags } from './layout.ts';
import { createPageKit, createVisits, type PageConfig, type PageDeps, shareEventOf } from './page-kit.ts';
import { addCallActions, addRewardPages, addShare } from './reward-pages.ts';
import { expandShortcodes } from './shortcodes/expand-shortcodes.ts';

/** Mounted at the site's base path, behind everything else: it answers 404 itself. */
export function createPages(deps: PageDeps, config: PageConfig): Hono {
  const kit = createPageKit(deps, config);
  const basePath = new URL(config.url).pathname.replace(/\/+$/, '');
  const app = new Hono();
  app.get('/assets/:name', (context) => {
    const path = context.req.path.slice(basePath.length);
    return assetResponse(path) ?? kit.notFound(context);
  });
  app.use(async (context, next) => {
    if (context.req.method !== 'GET') return next();
    // Nearly every page asks the service for something.
    if (!deps.mayCall(addressIn(context.env))) return tooMany();
    await next();
    countVisit(deps, context);
  });
  for (const add of [addHome, addPost, addShop, addLogIn, addRegister, addProfile]) add(app, kit);
  for (const add of [addRewardPages, addCallActions, addShare, addSettings, addAdminPosts]) add(app, kit);
  app.post('/logout', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    const answer = kit.goBack(form, form.visit.at('/'));
    answer.headers.append('Set-Cookie', deps.accounts.logOut(form.visit.caller));
    return answer;
  });
  app.all('*', (context) => kit.notFound(context));
  return app;
}

/** Tells the plugin that a user opened a page; the answer does not wait for it. */
function countVisit({ plugin, accounts }: PageDeps, context: Context): void {
  const isPage =
    context.res.status === 200 && (context.res.headers.get('content-type') ?? '').startsWith('text/html');
  const user = isPage ? userOf(accounts.callerOf(context.req.raw)) : undefined;
  if (user) plugin.fireLater('page_load', { email: user.email, metadata: { path: context.req.path } });
}

const tooMany = () =>
  new Response('Too many requests came from your address. Wait a minute and open the page again.', {
    status: 429,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '60' },
  });

export interface HostParts {
  /** Replaces the shortcodes in a page's HTML by what they show to the visitor who asks for the page. */
  expandShortcodes(html: string, request: Request): Promise<string>;
  /** Belongs into the head of such a page, and of one with a share button (class `rewards-share`). */
  headTags(request: Request): string;
}

/** `url`: of the site. Its cookies reach pages below it; anywhere else every visitor is a guest. */
export function createHostParts(
  deps: { plugin: Plugin; accounts: Accounts; now: () => number },
  { url }: { url: string },
): HostParts {
  const visitFor = createVisits(deps, new URL(url).pathname.replace(/\/+$/, ''));
  const visitOf = (request: Request) => visitFor(request, deps.accounts.callerOf(request));
  return {
    expandShortcodes: async (html, request) =>
      String(await expandShortcodes(deps.plugin, visitOf(request), html)),
    headTags: (request) => String(headTags(visitOf(request), shareEventOf(deps.plugin))),
  };
}
