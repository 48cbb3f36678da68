/** Contract: Authentication, brand key: an old key counts until the time that was given to it. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { bearer, onEachDatabase, shop } from '../kit.ts';

onEachDatabase('contract: Authentication, brand key', (get) => {
  test('after a rotation both keys count for a while, then only the new one', async () => {
    const rotated = await get().control(`/brands/${shop.brandId}/keys`, { overlap: '1h' });
    const statusWith = async (apiKey: string) =>
      (await get().send(shop, { userEmail: someone(), domain: undefined }, bearer({ apiKey }))).status;
    const newKey: string = rotated.body.apiKey;
    expect([await statusWith(shop.apiKey), await statusWith(newKey)]).toEqual([200, 200]);
    await get().advance('59m');
    expect(await statusWith(shop.apiKey)).toBe(200);
    await get().advance('1m');
    expect([await statusWith(shop.apiKey), await statusWith(newKey)]).toEqual([403, 200]);
  });
});
