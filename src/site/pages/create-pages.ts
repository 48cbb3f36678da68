/** All pages of the site, and what they are made with for a host site. */
import { type Context, Hono } from 'hono';
import { userOf } from '../accounts/caller.ts';
import { addressIn } from '../rest/address.ts';
import { addLogIn } from './account/log-in-page.ts';
import { addProfile } from './account/profile-page.ts';
import { addRegister } from './account/register-page.ts';
import { addAdminPosts } from './admin/posts-page.ts';
import { addSettings } from './admin/settings-page.ts';
import { assetResponse } from './assets/assets.ts';
import { addHome } from './front/home.ts';
import { addPost } from './front/post.ts';
import { addShop } from './front/shop.ts';
import { createPageKit, type PageConfig, type PageDeps } from './page-kit.ts';
import { addCallActions } from './rewards/call-actions.ts';
import { addRewardPages } from './rewards/reward-pages.ts';
import { addShare } from './rewards/share-page.ts';

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
