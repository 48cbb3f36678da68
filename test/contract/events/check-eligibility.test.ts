/** POST check-eligibility: what an event would get, without sending it. */
import { expect, test } from 'vitest';
import { someone } from '../../kits/service/service.ts';
import { API, bearer, expectBothForms, onEachDatabase, open, paused, poor, shop } from '../kit.ts';

onEachDatabase('check-eligibility', (get) => {
  const ask = (fields: Record<string, unknown>, headers?: Record<string, string>) =>
    get().post(`${API}/check-eligibility`, { brandId: shop.brandId, eventType: 'once', ...fields }, headers);

  test('says what the event would earn, as often as it is asked, and writes nothing', async () => {
    const userEmail = someone();
    const expected = { success: true, eligible: true, claimCount: 0, maxClaims: 1, rewardAmount: 10 };
    for (let time = 0; time < 3; time++) {
      const { status, body } = await ask({ userEmail });
      expect([status, body]).toEqual([200, expected]);
    }
    const { body } = await get().request(
      `${API}/user-balance?${new URLSearchParams({ brandId: shop.brandId, userEmail })}`,
    );
    expect(body.walletAddress).toBeNull();
    expect((await get().send(shop, { userEmail })).status).toBe(200);
  });

  test('within the duplicate window and the cooldown it says when they are over, and is right', async () => {
    const userEmail = someone();
    const event = { userEmail, eventType: 'watched' };
    await get().send(shop, event);
    const early = await ask(event);
    expect(early.body).toMatchObject({
      eligible: false,
      reason: 'duplicate',
      claimCount: 1,
      rewardAmount: 15,
    });
    await get().advance('61s');
    const { body } = await ask(event);
    const refused = await get().send(shop, event);
    expect([body.eligible, body.reason]).toEqual([false, refused.body.details.reason]);
    expect(body.message).toBe(refused.body.message);
    expect(body.cooldownEndsAt).toBe(refused.body.details.retryAt);
    expect(early.body.cooldownEndsAt).toBe(body.cooldownEndsAt);
    await get().advance(`${refused.body.details.remainingSeconds}s`);
    expect((await ask(event)).body).toMatchObject({ eligible: true, claimCount: 1 });
    expect((await get().send(shop, event)).status).toBe(200);
  });

  test('a claim that no waiting brings back has no end of a cooldown', async () => {
    const userEmail = someone();
    await get().send(shop, { userEmail });
    expect((await ask({ userEmail })).body).not.toHaveProperty('cooldownEndsAt');
    await get().advance('48h');
    const { body } = await ask({ userEmail });
    expect(body).toMatchObject({
      eligible: false,
      reason: 'max_claims_reached',
      claimCount: 1,
      maxClaims: 1,
    });
    expect(body).not.toHaveProperty('cooldownEndsAt');
  });

  test('what the brand has set is told: switched off, its funds, its domains', async () => {
    const of = async (brandId: string, fields: Record<string, unknown> = {}) =>
      (await ask({ brandId, userEmail: someone(), ...fields })).body;
    expect(await of(paused.brandId)).toMatchObject({ eligible: false, reason: 'automation_disabled' });
    await get().send(poor, { userEmail: someone() });
    await get().send(poor, { userEmail: someone() });
    const broke = await of(poor.brandId);
    expect(broke).toMatchObject({ eligible: false, reason: 'insufficient_brand_balance' });
    expect(JSON.stringify(broke)).not.toMatch(/available/);
    const elsewhere = await of(open.brandId, { domain: 'elsewhere.example' });
    expect(elsewhere).toMatchObject({ eligible: false, reason: 'domain_not_authorized', claimCount: 0 });
    expect(await of(open.brandId, { domain: open.domain })).toMatchObject({ eligible: true });
    const userEmail = someone();
    await get().send(open, { userEmail });
    expect(await of(open.brandId, { userEmail, domain: 'elsewhere.example' })).toMatchObject({
      reason: 'domain_not_authorized',
      claimCount: 1,
    });
    // It passes as well, but it is no cooldown.
    await get().set(open, { spendPerDay: 1 });
    const overspent = await of(open.brandId);
    await get().set(open, { spendPerDay: null });
    expect(overspent).toMatchObject({ eligible: false, reason: expect.stringMatching(/spend/) });
    expect(overspent).not.toHaveProperty('cooldownEndsAt');
  });

  test('a brand that takes events with its key only says so to all others', async () => {
    await get().set(shop, { clientEvents: 'credential' });
    try {
      const userEmail = someone();
      expect((await ask({ userEmail })).body).toMatchObject({
        eligible: false,
        reason: 'brand_key_required',
      });
      expect((await ask({ userEmail }, bearer(shop))).body).toMatchObject({ eligible: true });
    } finally {
      await get().set(shop, { clientEvents: 'open' });
    }
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      'an unknown brand',
      { brandId: `0x${'9'.repeat(40)}`, userEmail: 'a@b.example' },
      /^Brand not found: 0x9/,
    ],
    [
      'an unknown event',
      { eventType: 'custom_none', userEmail: 'a@b.example' },
      /^Event not found: custom_none/,
    ],
    ['no user', {}, /^Invalid event data/],
    ['a wrong e-mail', { userEmail: 'x' }, /^Invalid event data/],
    ['the zero address', { userIdentifier: `0x${'0'.repeat(40)}` }, /^Invalid event data/],
  ])('%s: 400', async (_, fields, error) => {
    const answer = await ask(fields);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)]);
    expectBothForms(answer);
  });
});
