/** `/`, `/posts/:slug` and `/shop`: what every visitor sees. */
import type { Context, Hono } from 'hono';
import { contentLimits } from '../config.ts';
import type { Comment, Post } from '../content/posts.ts';
import type { Order, Product } from '../content/shop.ts';
import { area, guard } from './fields.ts';
import { day, plural, price } from './format.ts';
import { type Html, html } from './html.ts';
import { productArt } from './icons.ts';
import type { PageKit } from './page-kit.ts';
import { excerptOf, proseHtml } from './prose.ts';
import { expandShortcodes } from './shortcodes/expand-shortcodes.ts';
import type { Visit } from './visit.ts';

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

/** `/posts/:slug`: a post with its shortcodes, the share button, and comments. */
export function addPost(app: Hono, kit: PageKit): void {
  /** Drafts are for administrators. */
  const find = (visit: Visit, slug: string): Post | undefined => {
    const post = kit.content.posts.bySlug(slug);
    return post && (post.publishedAtMs !== null || visit.isAdministrator) ? post : undefined;
  };
  app.get('/posts/:slug', (context) => {
    const post = find(kit.visitOf(context), context.req.param('slug'));
    return post ? showPost(kit, context, post) : kit.notFound(context);
  });
  app.post('/posts/:slug/comments', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    const { visit, field } = form;
    const post = find(visit, context.req.param('slug'));
    if (!post) return kit.notFound(context);
    const path = visit.at(`/posts/${post.slug}`);
    if (!visit.user) return kit.goBack(form, `${visit.at('/login')}?next=/posts/${post.slug}`);
    const written = kit.content.comments.add(post, visit.user, field('body'));
    if (written.ok)
      return kit.goBack(form, `${path}#comment-${written.value}`, { text: 'Thank you for your comment.' });
    const [problem] = written.problems;
    return kit.goBack(form, `${path}#write`, { text: `${problem?.message}. ${problem?.fix}`, isBad: true });
  });
}

async function showPost(kit: PageKit, context: Context, post: Post): Promise<Response> {
  const visit = kit.visitOf(context);
  const body = await expandShortcodes(kit.plugin, visit, proseHtml(post.body));
  const comments = kit.content.comments.ofPost(post.id);
  return kit.page(context, {
    title: post.title,
    section: '/',
    main: html`<article class="article"><header class="page-head"><h1>${post.title}</h1>
<p class="meta">${post.publishedAtMs === null ? html`<strong>Draft</strong>` : day(post.publishedAtMs)} · ${post.author ?? kit.config.name}</p></header>
<div class="prose">${body}</div>
${post.publishedAtMs !== null && html`<div class="share-row">${shareButton(visit, `/posts/${post.slug}`)}</div>`}</article>
<section class="article stack" aria-labelledby="comments"><h2 id="comments">${comments.length === 0 ? 'Comments' : plural(comments.length, 'comment')}</h2>
${commentList(comments, kit.config.name)}
${post.publishedAtMs !== null && commentForm(visit, post)}</section>`,
  });
}

const commentList = (comments: Comment[], siteName: string): Html =>
  comments.length === 0
    ? html`<p class="dim">Nobody has written yet. Be the first.</p>`
    : html`<ul class="comments">${comments.map(
        ({ id, author, body, atMs }) =>
          html`<li id="comment-${id}"><p class="meta"><strong>${author ?? siteName}</strong> · ${day(atMs)}</p><p>${body}</p></li>`,
      )}</ul>`;

const commentForm = (visit: Visit, post: Post): Html =>
  visit.user
    ? html`<form id="write" class="fields" method="post" action="${visit.at(`/posts/${post.slug}/comments`)}">${guard(visit)}
${area({ name: 'body', label: 'Your comment', value: '', maxLength: contentLimits.commentLength, hint: 'Comments earn points.' })}
<button type="submit">Post comment</button></form>`
    : html`<p><a href="${visit.comingBack('/login')}">Log in</a> to write a comment. Comments earn points.</p>`;

/** `path`: of the page that is shared, below the site's base. */
const shareButton = (visit: Visit, path: string): Html =>
  html`<form method="get" action="${visit.at('/share')}"><input type="hidden" name="url" value="${visit.at(path)}">
<button type="submit" class="rewards-share quiet" data-url="${visit.at(path)}">Share this page</button></form>`;

/** `/shop`: products, and the visitor's orders. The demo takes no money. */
export function addShop(app: Hono, kit: PageKit): void {
  const { shop } = kit.content;
  app.get('/shop', (context) => {
    const visit = kit.visitOf(context);
    return kit.page(context, {
      title: 'Shop',
      section: '/shop',
      main: html`<div class="page-head"><h1>Shop</h1><p class="lead">One point for every dollar. This is a demo: no money moves, and nothing is sent.</p></div>
<h2 class="hidden">Products</h2>
${productCards(visit, shop.products())}
${visit.user && orderTable(shop.ordersOf(visit.user))}`,
    });
  });
  app.post('/shop/orders', async (context) => {
    const form = await kit.form(context);
    if (form instanceof Response) return form;
    const { visit, field } = form;
    if (!visit.user) return kit.goBack(form, `${visit.at('/login')}?next=/shop`);
    const [productId, quantity] = [Number(field('product')), Number(field('quantity'))];
    const placed = shop.order(visit.user, { productId, quantity });
    const [problem] = placed.ok ? [] : placed.problems;
    const notice = placed.ok
      ? {
          text: `Order ${placed.value.id} is paid: ${placed.value.product}, ${price(placed.value.totalCents)}.`,
        }
      : { text: `${problem?.message}. ${problem?.fix}`, isBad: true };
    return kit.goBack(form, visit.at('/shop'), notice);
  });
}

function productCards(visit: Visit, products: Product[]): Html {
  if (products.length === 0) return html`<p>The shelves are empty. Come back soon.</p>`;
  return html`<ul class="products">${products.map(
    (product) => html`<li><article class="card product">${productArt(product.slug)}
<div><h3>${product.name}</h3><p class="dim">${product.description}</p>
<div class="foot"><span class="price">${price(product.priceCents)}</span>${orderForm(visit, product)}</div></div></article></li>`,
  )}</ul>`;
}

const orderForm = (visit: Visit, { id, name }: Product): Html =>
  visit.user
    ? html`<form class="order-form" method="post" action="${visit.at('/shop/orders')}">${guard(visit)}<input type="hidden" name="product" value="${id}">
<input type="number" name="quantity" value="1" min="1" max="${contentLimits.orderQuantity}" required aria-label="How many: ${name}">
<button type="submit">Buy<span class="hidden"> ${name}</span></button></form>`
    : html`<a class="button quiet" href="${visit.comingBack('/login')}">Log in to buy<span class="hidden"> ${name}</span></a>`;

const orderTable = (orders: Order[]): Html =>
  html`<section class="stack" aria-labelledby="orders"><hr><h2 id="orders">Your orders</h2>
${
  orders.length === 0
    ? html`<p class="dim">None yet. Whatever you buy appears here.</p>`
    : html`<div class="scroll" tabindex="0" role="group" aria-label="Your orders"><table><thead><tr><th scope="col">Order</th><th scope="col">Product</th><th scope="col">When</th><th scope="col" class="number">Quantity</th><th scope="col" class="number">Total</th></tr></thead>
<tbody>${orders.map(
        (order) =>
          html`<tr><td class="mono">${order.id}</td><td>${order.product}</td><td>${day(order.atMs)}</td><td class="number">${order.quantity}</td><td class="number">${price(order.totalCents)}</td></tr>`,
      )}</tbody></table></div>`
}</section>`;
