/** Products, and orders of them. The demo takes no money: an order is paid and complete when it is placed. */
import type { SiteUser } from '../accounts/users.ts';
import { contentLimits } from '../config.ts';
import type { ContentDeps, Written } from './content-deps.ts';

export interface Product {
  id: number;
  slug: string;
  name: string;
  description: string;
  priceCents: number;
}

export interface Order {
  id: number;
  product: string;
  quantity: number;
  totalCents: number;
  atMs: number;
}

const HOUR_MS = 3_600_000;

export type Shop = ReturnType<typeof createShop>;

export function createShop({ store, now, fire }: ContentDeps) {
  const columns = 'id, slug, name, description, price_cents as priceCents';
  const products = store.prepare<[], Product>(`select ${columns} from products order by id`);
  const byId = store.prepare<[number], Product>(`select ${columns} from products where id = ?`);
  const insert = store.prepare(
    'insert into orders (user_id, product_id, quantity, total_cents, created_at) values (?, ?, ?, ?, ?)',
  );
  const recent = store.prepare<[number, number], { count: number }>(
    'select count(*) as count from orders where user_id = ? and created_at > ?',
  );
  const ofUser = store.prepare<[number], Order>(
    `select orders.id, products.name as product, quantity, total_cents as totalCents, created_at as atMs
     from orders join products on products.id = orders.product_id where user_id = ? order by orders.id desc limit 20`,
  );

  return {
    products: () => products.all(),
    /** Newest first. */
    ordersOf: (user: Pick<SiteUser, 'id'>) => ofUser.all(user.id),
    /** Fires `order_completed`, once, with the total in dollars and the order's id. */
    order(user: SiteUser, wish: { productId: number; quantity: number }): Written<Order> {
      const problem = (message: string, fix: string): Written<Order> => ({
        ok: false,
        problems: [{ field: 'quantity', message, fix }],
      });
      const { orderQuantity, ordersPerHour } = contentLimits;
      const product = byId.get(wish.productId);
      if (!product) return problem('The shop has no such product', 'Choose one of those on this page.');
      const { quantity } = wish;
      if (!Number.isInteger(quantity) || quantity < 1 || quantity > orderQuantity)
        return problem('The quantity cannot be ordered', `Order between 1 and ${orderQuantity}.`);
      const placed = recent.get(user.id, now() - HOUR_MS)?.count ?? 0;
      if (placed >= ordersPerHour)
        return problem(`You placed ${placed} orders in the last hour`, 'Wait a while, then order again.');
      const totalCents = product.priceCents * quantity;
      const id = Number(insert.run(user.id, product.id, quantity, totalCents, now()).lastInsertRowid);
      fire('order_completed', {
        email: user.email,
        metadata: { order_id: String(id), order_total: totalCents / 100, product: product.name },
      });
      return { ok: true, value: { id, product: product.name, quantity, totalCents, atMs: now() } };
    },
  };
}
