/** POST perks/check-eligibility and perks/redeem: debited once on chain, with a code, and every refusal by its reason. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  EVENING,
  freshKey,
  heldOnChain,
  MUG,
  personWith,
  redeemBody,
  redeemedOnChain,
  setOnChain,
  WALLPAPERS,
} from '../../kits/chain/redeeming.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { someone, startTestService, type TestService } from '../../kits/service/service.ts';

const CODE = /^[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){2}$/;
const HASH = /^0x[0-9a-f]{64}$/;

describe.each(databaseKinds)('redemption (on $kind)', ({ open }) => {
  let service: TestService;
  let stopDatabase: () => Promise<void>;
  beforeAll(async () => {
    const { databaseUrl, stop } = await open();
    stopDatabase = stop;
    service = await startTestService(databaseUrl ? { databaseUrl } : {});
  });
  afterAll(async () => {
    await service?.stop();
    await stopDatabase();
  });
  const check = (user: string, perkId: string) =>
    service.post('/perks/check-eligibility', redeemBody(service, user, perkId));
  const redeem = (user: string, perkId: string, headers?: Record<string, string>) =>
    service.post('/perks/redeem', redeemBody(service, user, perkId), headers);
  const refusal = (reason: string) => ({ status: 400, body: { success: false, details: { reason } } });

  test('the cost is debited once on chain, the perk is there, and the brand is paid', async () => {
    const { email, wallet } = await personWith(service, 700);
    expect((await check(email, MUG.id)).body).toEqual({
      success: true,
      eligible: true,
      userBalance: 700,
      perkCost: 600,
    });
    const escrow = await service.escrowOf(service.brand.brandId);
    const brandFunds = async () =>
      (await service.request(`${service.ready.urls.control}/brands/${service.brand.brandId}`)).body.funds;
    const fundsBefore = await brandFunds();
    const { status, body } = await redeem(email, MUG.id);
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        perk: {
          id: MUG.id,
          name: MUG.name,
          description: 'Sent by post.',
          cost: 600,
          category: 'physical',
          image: null,
          metadata: {},
        },
        redemptionId: expect.any(String),
        confirmationCode: expect.stringMatching(CODE),
        transactionHash: expect.stringMatching(HASH),
      },
    ]);
    expect(await service.balanceOf(wallet)).toBe(100n);
    const stats = await service.request(`/user-stats/${service.brand.brandId}/${encodeURIComponent(email)}`);
    expect(stats.body).toMatchObject({ balance: 100, lifetime: { spent: 600 } });
    expect(await heldOnChain(service, wallet, MUG.tokenId)).toBe(1n);
    expect(await service.escrowOf(service.brand.brandId)).toBe(escrow + 600n);
    // What was collected can be promised to rewards again.
    expect((await brandFunds()).available).toBe(fundsBefore.available + 600);
    const { perks } = await redeemedOnChain(service);
    expect(perks.filter(({ transactionHash }) => transactionHash === body.transactionHash)).toMatchObject([
      { args: { perkId: BigInt(MUG.tokenId), price: 600n } },
    ]);
    expect((await check(email, MUG.id)).body).toMatchObject({ eligible: false, userBalance: 100 });
  });

  test('the brand is told of a redemption once, with the code that the user has', async () => {
    const { email } = await personWith(service, 100);
    const { confirmationCode } = (await redeem(email, WALLPAPERS.id)).body;
    const told = async () => {
      const { deliveries } = (await service.request(`${service.ready.urls.control}/inbox?limit=500`)).body;
      return deliveries.filter((one: { body: { type: string; data: { userEmail: string } } }) => {
        return one.body?.type === 'perk.redeemed' && one.body.data.userEmail === email;
      });
    };
    await expect.poll(async () => (await told()).length).toBe(1);
    const [{ body }] = await told();
    expect(body.data).toEqual({
      userEmail: email,
      perkId: WALLPAPERS.id,
      perkName: WALLPAPERS.name,
      redemptionCode: confirmationCode,
      timestamp: expect.any(Number),
    });
  });

  test('too little RWT: both say how much is missing, and nothing is debited', async () => {
    const { email, wallet } = await personWith(service, 150);
    const before = await service.balanceOf(wallet);
    expect((await check(email, MUG.id)).body).toEqual({
      success: true,
      eligible: false,
      code: 'insufficient_balance',
      reason: `${MUG.name} costs 600 RWT, and ${before} RWT can be spent: ${600n - before} are missing.`,
      userBalance: Number(before),
      perkCost: 600,
      missingAmount: 600 - Number(before),
    });
    const refused = await redeem(email, MUG.id);
    expect(refused).toMatchObject(refusal('insufficient_balance'));
    expect(refused.body.error).toBe('Insufficient balance');
    expect(await service.balanceOf(wallet)).toBe(before);
  });

  test('an unknown user has 0 RWT', async () => {
    const nobody = someone();
    expect((await check(nobody, WALLPAPERS.id)).body).toMatchObject({
      eligible: false,
      userBalance: 0,
      missingAmount: 50,
      code: 'insufficient_balance',
    });
    expect(await redeem(nobody, WALLPAPERS.id)).toMatchObject(refusal('insufficient_balance'));
  });

  test('users by address and by platform redeem as well', async () => {
    const { wallet } = await personWith(service, 100);
    expect((await redeem(wallet, WALLPAPERS.id)).status).toBe(200);
    expect(await service.balanceOf(wallet)).toBe(50n);
  });

  test('the same Idempotency-Key redeems once and gets the same code; in the body too', async () => {
    const { email, wallet } = await personWith(service, 200);
    const key = { 'idempotency-key': freshKey() };
    const answers = await Promise.all([redeem(email, WALLPAPERS.id, key), redeem(email, WALLPAPERS.id, key)]);
    answers.push(await redeem(email, WALLPAPERS.id, key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await service.balanceOf(wallet)).toBe(150n);
    const inBody = { ...redeemBody(service, email, WALLPAPERS.id), idempotencyKey: freshKey() };
    const [first, second] = [
      await service.post('/perks/redeem', inBody),
      await service.post('/perks/redeem', inBody),
    ];
    expect(second.body).toEqual(first.body);
    expect(await service.balanceOf(wallet)).toBe(100n);
    expect(await redeem(email, MUG.id, key)).toMatchObject({
      status: 409,
      body: { details: { reason: 'idempotency_key_reused' } },
    });
  });

  test('without a key, each request is a redemption of its own', async () => {
    const { email, wallet } = await personWith(service, 150);
    const before = await service.balanceOf(wallet);
    const codes = [await redeem(email, WALLPAPERS.id), await redeem(email, WALLPAPERS.id)].map(
      ({ body }) => body.confirmationCode,
    );
    expect(new Set(codes).size).toBe(2);
    expect(await service.balanceOf(wallet)).toBe(before - 100n);
  });

  test('thirty at once with money for one: one code, and the others are told', async () => {
    const { email, wallet } = await personWith(service, 700);
    const answers = await Promise.all(Array.from({ length: 30 }, () => redeem(email, MUG.id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const one of answers.filter(({ status }) => status !== 200))
      expect(one).toMatchObject(refusal('insufficient_balance'));
    expect(await service.balanceOf(wallet)).toBe(100n);
    expect(await heldOnChain(service, wallet, MUG.tokenId)).toBe(1n);
  });

  test('sold out: no more are redeemed than there are, and an inactive perk is refused', async () => {
    const people = await Promise.all(Array.from({ length: 5 }, () => personWith(service, 2_100)));
    const answers = await Promise.all(people.map(({ email }) => redeem(email, EVENING.id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    for (const one of answers.filter(({ status }) => status !== 200))
      expect(one).toMatchObject(refusal('perk_sold_out'));
    const [someoneElse] = people;
    expect((await check(someoneElse?.email ?? '', EVENING.id)).body).toMatchObject({
      eligible: false,
      code: 'perk_sold_out',
    });
    const email = someoneElse?.email ?? '';
    // What somebody else changes on chain is seen with the block that has it.
    const codeNow = () => expect.poll(async () => (await check(email, EVENING.id)).body.code);
    await setOnChain(service, { tokenId: EVENING.tokenId, price: 2_000, active: false });
    await codeNow().toBe('perk_not_active');
    expect(await redeem(email, EVENING.id)).toMatchObject(refusal('perk_not_active'));
    await setOnChain(service, { tokenId: EVENING.tokenId, price: 2_001 });
    await codeNow().toBe('perk_price_changing');
    expect(await redeem(email, EVENING.id)).toMatchObject(refusal('perk_price_changing'));
    await setOnChain(service, { tokenId: EVENING.tokenId, price: 2_000, stock: 2n });
  });

  test('a perk that the brand does not have, an unknown brand, and fields that are wrong', async () => {
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await redeem(someone(), unknown)).toMatchObject(refusal('perk_not_found'));
    expect(await check(someone(), unknown)).toMatchObject(refusal('perk_not_found'));
    const elsewhere = { ...redeemBody(service, someone(), MUG.id), brandId: `0x${'9'.repeat(40)}` };
    for (const path of ['/perks/redeem', '/perks/check-eligibility'])
      expect(await service.post(path, elsewhere)).toMatchObject({
        status: 400,
        body: { success: false, error: `Brand not found: 0x${'9'.repeat(40)}` },
      });
    const wrong = await service.post('/perks/redeem', { brandId: 'x', userIdentifier: '', perkId: 'a b' });
    expect(wrong).toMatchObject({ status: 400, body: { error: 'Invalid request' } });
    expect(wrong.body.details.errors).toEqual([
      'brandId: must be an address: 0x and 40 hex digits',
      'userIdentifier: is required',
      expect.stringMatching(/^perkId: must be the id of a perk/),
    ]);
    const badKey = await redeem(someone(), MUG.id, { 'idempotency-key': 'x'.repeat(300) });
    expect(badKey.body.details.errors).toEqual([expect.stringMatching(/^idempotencyKey: /)]);
  });
});
