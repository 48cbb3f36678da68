/** GET and POST user-balance. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, onEachDatabase, open, shop } from '../kit.ts';

onEachDatabase('user-balance', (get) => {
  const query = (fields: Record<string, string>) =>
    get().request(`${API}/user-balance?${new URLSearchParams(fields)}`);
  const post = (fields: Record<string, unknown>) => get().post(`${API}/user-balance`, fields);

  test('tells what the chain holds, and the wallet', async () => {
    const userEmail = someone();
    const first = await get().send(shop, { userEmail });
    await get().send(open, { userEmail });
    const { walletAddress } = first.body;
    const expected = { success: true, balance: 20, walletAddress };
    expect((await query({ brandId: shop.brandId, userEmail })).body).toEqual(expected);
    expect((await post({ brandId: shop.brandId, userEmail: userEmail.toUpperCase() })).body).toEqual(
      expected,
    );
  });

  test('somebody unknown has nothing', async () => {
    const answer = await query({ brandId: shop.brandId, userEmail: someone() });
    expect([answer.status, answer.body]).toEqual([200, { success: true, balance: 0, walletAddress: null }]);
  });

  test('the history is that of the brand, newest first, at most 50', async () => {
    const userEmail = someone();
    await get().send(shop, { userEmail });
    await get().send(open, { userEmail });
    const second = await get().send(shop, { userEmail, eventType: 'twice' });
    const { body } = await post({ brandId: shop.brandId, userEmail, includeHistory: true });
    expect(body.history).toEqual([
      {
        transactionHash: second.body.transactionHash,
        eventType: 'twice',
        amount: 10,
        timestamp: expect.any(Number),
      },
      expect.objectContaining({ eventType: 'once', amount: 10 }),
    ]);
    const one = await query({ brandId: shop.brandId, userEmail, includeHistory: 'true', historyLimit: '1' });
    expect(one.body.history).toHaveLength(1);
    expect((await query({ brandId: shop.brandId, userEmail })).body).not.toHaveProperty('history');
  });

  test('an address may stand for the user', async () => {
    const userIdentifier = '0x00000000000000000000000000000000000B0B00';
    await get().send(shop, { userIdentifier });
    const { body } = await post({ brandId: shop.brandId, userIdentifier });
    expect([body.balance, body.walletAddress.toLowerCase()]).toEqual([10, userIdentifier.toLowerCase()]);
  });

  const userEmail = 'somebody@people.example';
  test.each<[string, Record<string, unknown>]>([
    ['no brandId', { userEmail }],
    ['a wrong brandId', { brandId: 'x', userEmail }],
    ['an unknown brand', { brandId: `0x${'9'.repeat(40)}`, userEmail }],
    ['no user', { brandId: shop.brandId }],
    ['a wrong e-mail', { brandId: shop.brandId, userEmail: 'x' }],
    ['historyLimit 51', { brandId: shop.brandId, userEmail, includeHistory: true, historyLimit: 51 }],
    ['historyLimit 0', { brandId: shop.brandId, userEmail, includeHistory: true, historyLimit: 0 }],
    ['historyLimit 1.5', { brandId: shop.brandId, userEmail, includeHistory: true, historyLimit: 1.5 }],
    ['historyLimit as a word', { brandId: shop.brandId, userEmail, includeHistory: true, historyLimit: 'x' }],
    ['includeHistory as a word', { brandId: shop.brandId, userEmail, includeHistory: 'perhaps' }],
  ])('%s: 400, asked either way', async (_, fields) => {
    const texts = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
    for (const answer of [await post(fields), await query(texts)]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ success: false, details: { errors: expect.any(Array) } });
    }
  });

  test.each(['null', '[]', '"x"', '', '{'])('a body that is %j: 400', async (body) => {
    expect((await get().post(`${API}/user-balance`, body)).status).toBe(400);
  });
});
