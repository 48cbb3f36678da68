/** `/dashboard`, `/leaderboard`, `/perks`: shortcodes as pages of their own. */
import type { Hono } from 'hono';
import { metricNames, periodNames } from '../../plugin/board-names.ts';
import { select } from '../fields.ts';
import { spelledOut } from '../format.ts';
import { html } from '../html.ts';
import type { PageKit } from '../page-kit.ts';
import { perkCategories } from '../shortcodes/perks.ts';
import { leaderboardWish, perkCategory } from '../shortcodes/shortcode-parameters.ts';

export function addRewardPages(app: Hono, kit: PageKit): void {
  app.get('/dashboard', async (context) => {
    const visit = kit.visitOf(context);
    return kit.page(context, {
      title: 'My rewards',
      section: '/dashboard',
      main: html`<div class="page-head"><h1>My rewards</h1></div>${await kit.draw(visit, 'dashboard')}`,
    });
  });
  app.get('/leaderboard', async (context) => {
    const visit = kit.visitOf(context);
    const given = context.req.query();
    const { metric, period } = leaderboardWish(given).value;
    const board = await kit.draw(visit, 'leaderboard', { ...given, limit: given.limit ?? '25' });
    return kit.page(context, {
      title: 'Leaderboard',
      section: '/leaderboard',
      main: html`<div class="article stack"><div class="page-head"><h1>Leaderboard</h1><p class="lead">Who dropped by, wrote and collected most.</p></div>
<form class="rw-choose" method="get" action="${visit.at('/leaderboard')}">
${select({ name: 'metric', label: 'What counts', value: metric, options: metricNames })}
${select({ name: 'period', label: 'Since when', value: period, options: periodNames })}
<button class="quiet" type="submit">Show</button></form>
${board}</div>`,
    });
  });
  app.get('/perks', async (context) => {
    const visit = kit.visitOf(context);
    const given = context.req.query();
    const { value: open } = perkCategory(given);
    return kit.page(context, {
      title: 'Perks',
      section: '/perks',
      main: html`<div class="stack"><div class="page-head"><h1>Perks</h1><p class="lead">Turn what you earned into something to use, wear or remember.</p></div>
<nav aria-label="Kinds of perks"><ul class="rw-filter">${perkCategories.map(
        (category) =>
          html`<li><a href="${visit.at('/perks')}?category=${category}"${category === open && html` aria-current="page"`}>${spelledOut(category)}</a></li>`,
      )}</ul></nav>
${await kit.draw(visit, 'perks', given)}</div>`,
    });
  });
}
