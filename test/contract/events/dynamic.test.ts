/** Rewards that depend on the event: per dollar of an order, with a cap. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, onEachDatabase, open, shop } from '../kit.ts';

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

  test.each([-1, 0, 0.49, '0', '1e3', 'ten', '', true, [], {}, '24,90', '$24.90'])(
    'order_total %j pays the reward of the rule',
    async (order_total) => {
      const { status, body } = await order({ order_total });
      expect([status, body.rewardAmount]).toEqual([200, 7]);
    },
  );

  test('an order_total of 1e9 and more earns at most maxReward', async () => {
    const totals = [1e9, 1e12, 1e300, '1000000000000', '9'.repeat(20)];
    for (const order_total of totals) expect((await order({ order_total })).body.rewardAmount).toBe(500);
  });

  test('fractions of a cent are never rounded up', async () => {
    expect((await order({ order_total: 9.995 })).body.rewardAmount).toBe(19);
    expect((await order({ order_total: '9.999999' })).body.rewardAmount).toBe(19);
  });

  test('clientAmounts: credential: the total counts with the key of the brand only', async () => {
    const set = (clientAmounts: string) => get().set(shop, { clientAmounts });
    const event = (metadata: unknown) => ({ userEmail: someone(), eventType: 'order', metadata });
    expect((await set('credential')).body.clientAmounts).toBe('credential');
    const anonymous = await get().send(shop, event({ order_total: 1e9 }));
    expect([anonymous.status, anonymous.body.rewardAmount]).toEqual([200, 7]);
    expect((await get().explain(anonymous)).explained[0].checks).toContainEqual(
      expect.objectContaining({
        name: 'event',
        text: "order pays 7 RWT: order_total does not count without the brand's key",
      }),
    );
    const foreign = await get().send(shop, event({ order_total: 100 }), bearer(open));
    expect(foreign.body.rewardAmount).toBe(7);
    const own = await get().send(shop, event({ order_total: 100 }), bearer(shop));
    expect(own.body.rewardAmount).toBe(200);
    const item = { ...event({ order_total: 100 }), brandId: shop.brandId, domain: shop.domain };
    expect((await get().bulk([item])).body.results[0].rewardAmount).toBe(7);
    const again = { ...item, userEmail: someone() };
    expect((await get().bulk([again], bearer(shop))).body.results[0].rewardAmount).toBe(200);
    await set('allow');
    expect((await order({ order_total: 100 })).body.rewardAmount).toBe(200);
  });

  test('perUsd without maxReward is refused', async () => {
    const rule = (eventType: string, settings: Record<string, unknown>) =>
      get().setRule(shop, eventType, settings);
    const problem = { setting: 'perUsd', message: 'needs maxReward, the most that one event may come to' };
    for (const refused of [
      await rule('endless_order', { reward: 1, perUsd: 1 }),
      await rule('order', { maxReward: null }),
      await rule('once', { perUsd: 5 }),
    ]) {
      expect([refused.status, refused.body.details.problems]).toEqual([400, [problem]]);
    }
    expect((await rule('once', { perUsd: 5, maxReward: 50 })).status).toBe(200);
    await rule('once', { perUsd: null, maxReward: null });
  });
});
