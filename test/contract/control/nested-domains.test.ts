/** Domains above and below those of another brand: an event from there would belong to both. */
import { expect, test } from 'vitest';
import { onEachDatabase, open, shop } from '../kit.ts';

onEachDatabase('a domain near that of another brand', (get) => {
  const create = (digit: string, domains: string[]) =>
    get().control('/brands', { brandId: `0x${digit.repeat(40)}`, name: 'Neighbour', domains });
  const problems = ({ body }: { body: { details: { problems?: { message: string }[] } } }) =>
    body.details?.problems?.map(({ message }) => message);

  test('is refused below and above it, for a new brand and an older one; siblings are not', async () => {
    expect(problems(await create('1', ['promo.shop.example']))).toEqual([
      `promo.shop.example is below shop.example, which belongs to brand ${shop.brandId}`,
    ]);
    expect(problems(await get().set(open, { domains: ['open.example', 'a.b.shop.example'] }))).toEqual([
      `a.b.shop.example is below shop.example, which belongs to brand ${shop.brandId}`,
    ]);
    expect((await create('2', ['one.roof.example'])).status).toBe(201);
    expect((await create('3', ['two.roof.example'])).status).toBe(201);
    expect(problems(await create('4', ['roof.example']))).toEqual([
      expect.stringMatching(
        /^roof\.example is above (one|two)\.roof\.example, which belongs to brand 0x[23]{40}$/,
      ),
    ]);
    expect((await create('5', ['xshop.example', 'shop.example.shop-example.example'])).status).toBe(201);
    // Its own domains a brand may nest as it likes.
    expect((await get().set(shop, { domains: ['shop.example', 'promo.shop.example'] })).status).toBe(200);
    expect((await get().set(shop, { name: 'Shop again' })).status).toBe(200);
  });
});
