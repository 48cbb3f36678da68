/** GET events/<eventId>: the present state and hash of a reward. */
import { expect, test } from 'vitest';
import { until } from '../../kits/service/clock.ts';
import { someone } from '../../kits/service/service.ts';
import { API, onEachDatabase, shop } from '../kit.ts';

onEachDatabase('events/<eventId>', (get) => {
  const ask = (eventId: string) => get().request(`${API}/events/${eventId}`);

  test('tells where the reward is, by the id of the answer', async () => {
    const { body: first } = await get().send(shop, { userEmail: someone() });
    const { eventId, eventType, brandId, walletAddress, rewardAmount, transactionHash } = first;
    await until('the reward in a block', async () => (await ask(eventId)).body.status === 'included');
    const { status, headers, body } = await ask(eventId);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      success: true,
      eventId,
      brandId,
      eventType,
      rewardAmount,
      walletAddress,
      status: 'included',
      transactionHash,
      blockNumber: expect.any(Number),
      reason: null,
    });
    expect((await ask(eventId.toUpperCase())).body.eventId).toBe(eventId);
  });

  test.each(['01a1f8bd-a91a-7cca-b14d-28b6ec24de14', 'nothing', '%00'])('%s is unknown', async (eventId) => {
    const { status, body } = await ask(eventId);
    expect([status, body.error]).toEqual([404, 'Event unknown']);
  });
});
