/** Guards pages for administrators: guests log in first, other users learn that the page is not theirs. */
import type { Context } from 'hono';
import { html } from '../html.ts';
import type { PageKit } from '../page-kit.ts';

export function onlyAdministrators(
  kit: PageKit,
  context: Context,
  work: () => Response | Promise<Response>,
): Response | Promise<Response> {
  const visit = kit.visitOf(context);
  if (visit.isAdministrator) return work();
  if (!visit.user) return kit.goBack({ visit }, visit.comingBack('/login'));
  return kit.page(context, {
    status: 403,
    title: 'For administrators',
    main: html`<div class="page-head"><h1>For administrators</h1><p class="lead">This page changes the site. Ask an administrator of the site to do it, or to make you one.</p></div>
<p><a class="button" href="${visit.at('/dashboard')}">Go to your rewards</a></p>`,
  });
}
