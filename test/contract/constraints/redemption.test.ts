/** A redemption asks of a buyer what a purchase by relay does, with the same answers kept. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds, type TestDatabase } from '../../kits/databases/databases.ts';
import { BRAND, perk, startConstraintsKit } from './kit.ts';

describe.each(databaseKinds)('constraints of a redemption (on $kind)', ({ open }) => {
  let kit: Awaited<ReturnType<typeof startConstraintsKit>>;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await open();
    kit = await startConstraintsKit(database);
  }, 60_000);
  afterAll(async () => {
    await kit?.stop();
    await database?.stop();
  });
  const ask = (
    verb: 'redeem' | 'check-eligibility',
    user: { email: string; token: string },
    tokenId: bigint,
  ) => {
    const body = {
      brandId: BRAND,
      userIdentifier: user.email,
      platform: 'web',
      perkId: `00000000-0000-4000-8000-0000000000${tokenId}`,
    };
    return kit.post(`/perks/${verb}`, body, { authorization: `Bearer ${user.token}` });
  };

  test('what the relay was told of a buyer holds for the redemption, and the reverse', async () => {
    const { alice, bob } = kit.users;
    for (const { email } of [alice, bob])
      expect((await kit.event({ brandId: BRAND, userEmail: email })).status).toBe(200);
    kit.says.body = { eligible: false, reason: 'Only for members of the club' };
    expect((await kit.buy(bob, perk.asks)).status).toBe(403);
    const refused = await ask('redeem', bob, perk.asks);
    expect([refused.status, refused.body.success]).toEqual([400, false]);
    const missing = [
      { type: 'external_api', reason: 'external_api_refused', message: 'Only for members of the club' },
    ];
    expect(refused.body.details).toMatchObject({ reason: 'constraints_not_met', missing });
    const eligibility = await ask('check-eligibility', bob, perk.asks);
    expect(eligibility.body).toMatchObject({ eligible: false, code: 'constraints_not_met', missing });
    expect(kit.asked()).toBe(1);
    expect(await kit.perksOf(bob.address, perk.asks)).toBe(0n);

    kit.says.body = { eligible: true };
    const redeemed = await ask('redeem', alice, perk.asks);
    expect([redeemed.status, redeemed.body.success]).toEqual([200, true]);
    expect((await kit.buy(alice, perk.asks)).status).toBe(200);
    expect(kit.asked()).toBe(1);
    expect(await kit.perksOf(alice.address, perk.asks)).toBe(2n);
  });
});
