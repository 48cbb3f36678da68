/** Rewards that depend on the event: per dollar of an order, with a cap. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service.ts';
import { onEachDatabase, shop } from '../kit.ts';

onEachDatabase('contract: Event types, purchase: RWT per USD', (get) => {
  const order = (metadata: unknown) =>
    get().send(shop, { userEmail: someone(), eventType: 'order', metadata });

  test.each<[unknown, number]>([
    [{}, 7],
    [{ order_total: null }, 7],
    [{ order_total: 100 }, 200],
    [{ order_total: 19.99 }, 39],
    [{ order_total: '19.99' }, 39],
    [{ order_total: 250 }, 500],
    [{ order_total: 250.01 }, 500],
    [{ order_total: 999_999_999 }, 500],
  ])('%j pays %i, on chain', async (metadata, amount) => {
    const { status, body } = await order(metadata);
    expect([status, body.rewardAmount]).toEqual([200, amount]);
    expect(await get().balanceOf(body.walletAddress)).toBe(BigInt(amount));
  });

  test.each([-1, 0, 0.49, '1e3', 'ten', '', true, [], {}, 1e12])(
    'order_total %j: 400',
    async (order_total) => {
      const { status, body } = await order({ order_total });
      expect(status).toBe(400);
      expect(body.details.errors[0]).toMatch(/^metadata\.order_total: /);
    },
  );
});
