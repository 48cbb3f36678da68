/** `/`: the newest posts, what the visitor has, and what the shop sells. */
import type { Hono } from 'hono';
import { day } from '../format.ts';
import { type Html, html } from '../html.ts';
import type { PageKit } from '../page-kit.ts';
import { excerptOf } from '../prose.ts';
import type { Visit } from '../visit.ts';
import { productCards } from './shop.ts';

export function addHome(app: Hono, kit: PageKit): void {
  const { content, config } = kit;
  app.get('/', async (context) => {
    const visit = kit.visitOf(context);
    const aside = visit.user
      ? await Promise.all([kit.draw(visit, 'streak'), kit.draw(visit, 'balance')])
      : [await kit.draw(visit, 'leaderboard', { limit: '5' })];
    return kit.page(context, {
      title: config.name,
      section: '/',
      main: html`${hero(visit, config.name)}
<div class="columns"><section aria-labelledby="journal" class="stack"><h2 id="journal" class="hidden">Journal</h2>${postList(visit, kit)}</section>
<aside aria-label="Rewards">${aside}</aside></div>
<section aria-labelledby="shop" class="stack"><hr><h2 id="shop">From the shop</h2>
${productCards(visit, content.shop.products())}</section>`,
    });
  });
}

const hero = (visit: Visit, name: string): Html =>
  visit.user
    ? html`<div class="hero"><h1>Good to see you, ${visit.user.displayName}.</h1>
<p class="lead">Here is what is new, and what today is worth.</p></div>`
    : html`<div class="hero"><h1>Things worth keeping.</h1>
<p class="lead">${name} makes a few things that last, repairs them, and remembers its regulars: dropping by, writing, sharing and buying earn points.</p>
<p class="buttons"><a class="button" href="${visit.at('/register')}">Join and earn</a> <a href="${visit.at('/perks')}">See what points get you</a></p></div>`;

function postList(visit: Visit, { content }: PageKit): Html {
  const posts = content.posts.published();
  if (posts.length === 0)
    return html`<p>Nothing has been published yet.${visit.isAdministrator && html` <a href="${visit.at('/admin/posts')}">Write the first post</a>.`}</p>`;
  return html`<ul class="post-list">${posts.map(
    (post) => html`<li><article>
<p class="meta">${day(post.publishedAtMs ?? 0)}</p>
<h3><a href="${visit.at(`/posts/${post.slug}`)}">${post.title}</a></h3>
<p class="dim">${excerptOf(post.body)}</p></article></li>`,
  )}</ul>`;
}
