/** `/shop`: products, and the visitor's orders. The demo takes no money. */
import type { Hono } from 'hono';
import { contentLimits } from '../../content/content-limits.ts';
import type { Order, Product } from '../../content/shop.ts';
import { guard } from '../fields.ts';
import { day, price } from '../format.ts';
import { type Html, html } from '../html.ts';
import { productArt } from '../icons.ts';
import type { PageKit } from '../page-kit.ts';
import type { Visit } from '../visit.ts';

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

export function productCards(visit: Visit, products: Product[]): Html {
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
