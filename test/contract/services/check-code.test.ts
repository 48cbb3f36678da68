/** POST perks/check-code and perks/use-code: a code is good once, and known to its brand alone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personWith, redeemBody, WALLPAPERS } from '../../kits/chain/redeeming.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { rewardsJson } from '../../kits/service/cli.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

const API_KEY = 'rk_dev_demo_7pQ2vXc9TfLm4KzRw8YbN6sHdJ3gEa5U';
const key = { authorization: `Bearer ${API_KEY}` };

describe.each(databaseKinds)('codes (on $kind)', ({ open }) => {
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
  const ask = (verb: string, code: string, headers: Record<string, string> = key) =>
    service.post(`/perks/${verb}`, { brandId: service.brand.brandId, code }, headers);
  const redeemed = async () => {
    const { email } = await personWith(service, 100);
    const { body } = await service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
    return { email, code: body.confirmationCode as string, id: body.redemptionId as string };
  };

  test('a code says what it is for, however it is typed, and is used once', async () => {
    const { email, code, id } = await redeemed();
    const valid = {
      success: true,
      state: 'valid',
      confirmationCode: code,
      redemptionId: id,
      user: email,
      perkId: WALLPAPERS.id,
      perkName: WALLPAPERS.name,
      cost: 50,
      usedAt: null,
    };
    expect(await ask('check-code', code)).toMatchObject({ status: 200, body: valid });
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ')} `;
    expect(await ask('check-code', typed)).toMatchObject({ status: 200, body: valid });
    const used = await ask('use-code', code);
    expect(used).toMatchObject({ status: 200, body: { state: 'used', usedAt: expect.any(String) } });
    const { usedAt } = used.body;
    expect((await ask('check-code', code)).body).toMatchObject({ state: 'used', usedAt });
    expect(await ask('use-code', code)).toMatchObject({
      status: 409,
      body: { error: 'Code already used', details: { reason: 'code_not_usable', usedAt } },
    });
  });

  test('a code of a user who was named by an address says the address', async () => {
    const { wallet } = await personWith(service, 100);
    const { body } = await service.post('/perks/redeem', redeemBody(service, wallet, WALLPAPERS.id));
    expect((await ask('check-code', body.confirmationCode)).body.user).toBe(wallet.toLowerCase());
  });

  test('of many who use a code at once, one is told that they have', async () => {
    const { code } = await redeemed();
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('use-code', code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)]);
  });

  test('a code that no block shows yet is pending: nothing may be handed out for it, and it is not used up', async () => {
    const { email } = await personWith(service, 100);
    const rpc = (method: string, ...params: unknown[]) =>
      service.post(service.ready.urls.rpc, { jsonrpc: '2.0', id: 1, method, params });
    const listed = async () => {
      const list = `${service.ready.urls.control}/redemptions?brand=${service.brand.domain}&limit=500`;
      const { redemptions } = (await service.request(list)).body;
      return redemptions.find((one: { user: string }) => one.user === email);
    };
    await rpc('evm_setAutomine', false);
    const answer = service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
    await expect.poll(listed).toMatchObject({ state: 'pending', transactionHash: expect.any(String) });
    const { confirmationCode: code } = await listed();
    expect((await ask('check-code', code)).body).toMatchObject({ state: 'pending', usedAt: null });
    expect(await ask('use-code', code)).toMatchObject({
      status: 409,
      body: { details: { reason: 'code_not_usable' } },
    });
    expect((await listed()).state).toBe('pending');
    await rpc('evm_setAutomine', true);
    await rpc('evm_mine');
    expect((await answer).body).toMatchObject({ success: true, confirmationCode: code });
    expect(await listed()).toMatchObject({ state: 'valid', usedAt: null });
    expect((await ask('use-code', code)).body).toMatchObject({ state: 'used' });
    expect(await listed()).toMatchObject({ state: 'used', usedAt: expect.any(String) });
  });

  test('without the key of the brand nothing is told, and what it has not is unknown', async () => {
    const { code } = await redeemed();
    for (const verb of ['check-code', 'use-code']) {
      expect(await ask(verb, code, {})).toMatchObject({
        status: 401,
        body: { details: { reason: 'brand_key_required' } },
      });
      expect(await ask(verb, '0000-0000-0000')).toMatchObject({
        status: 404,
        body: { error: 'Unknown code', details: { reason: 'code_not_found' } },
      });
      expect(await ask(verb, 'what?')).toMatchObject({
        status: 400,
        body: { details: { errors: [expect.stringMatching(/^code: must be a conf/)] } },
      });
    }
    expect((await ask('check-code', code)).body.state).toBe('valid');
  });

  test('the command line redeems a perk, looks at its code and uses it with the key', async () => {
    const { email } = await personWith(service, 100);
    const env = { REWARDS_CONTROL_TOKEN: service.ready.controlToken, REWARDS_API_KEY: API_KEY };
    const perks = async (...args: string[]) =>
      (await rewardsJson(['perks', ...args, '--target', service.ready.urls.events], { env })).envelope;
    const { body } = (await perks('redeem', email, 'desktop wallpapers')).data;
    expect(body).toMatchObject({ success: true, perk: { name: 'Desktop wallpapers', cost: 50 } });
    const run = (verb: string) => perks(verb, body.confirmationCode);
    expect((await run('check-code')).data.body).toMatchObject({ state: 'valid' });
    expect((await run('use-code')).data.body).toMatchObject({ state: 'used' });
    expect((await run('use-code')).error).toMatchObject({ code: 'E_REFUSED', message: 'Code already used' });
    expect((await perks('redeem', email, '1')).data.body.perk.name).toBe('Desktop wallpapers');
    const poor = await perks('redeem', email, '1', '--expect', '400:insufficient_balance');
    expect(poor.ok).toBe(true);
    expect((await perks('redeem', email, 'no such perk')).error).toMatchObject({ code: 'E_REFUSED' });
  });
});
