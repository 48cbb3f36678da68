/** 200 calls of payment-mint and the processor's event at once: one mint, all others find it. */
import { expect, test } from 'vitest';
import { shop } from '../kit.ts';
import { onPayments } from './kit.ts';

onPayments('payment-mint at once', (get) => {
  test('200 calls and the event: one mints, the others are told alreadyProcessed', async () => {
    const service = get();
    const before = await service.balanceOf(shop.brandId);
    const sessionId = await service.paidSession();
    const text = await service.eventText('checkout.session.completed', sessionId);
    const answers = await Promise.all([
      ...Array.from({ length: 100 }, () => service.mint(sessionId)),
      service.deliver(text),
      ...Array.from({ length: 100 }, () => service.mint(sessionId)),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array(201).fill(200));
    expect(answers.filter(({ body }) => body.alreadyProcessed === undefined)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.txHash)).size).toBe(1);
    expect(await service.mintsOnChain(sessionId)).toBe(1);
    expect(await service.balanceOf(shop.brandId)).toBe(before + 25_000n);
  });
});
