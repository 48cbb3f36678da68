/** `rewards perks list|add|set`: the catalogue, and what the contract is told of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { perkNFTAbi } from '../../src/chain/contracts/abis.ts';
import { buyPerk } from '../kits/chain/perks.ts';
import { mintTo, personWith, redeemBody, WALLPAPERS } from '../kits/chain/redeeming.ts';
import { databaseKinds } from '../kits/databases/databases.ts';
import { rewards, rewardsJson } from '../kits/service/cli.ts';
import { until } from '../kits/service/clock.ts';
import { startTestService, type TestService } from '../kits/service/service.ts';

describe.each(databaseKinds)('perks (on $kind)', ({ open }) => {
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
  const around = () => ({ env: { REWARDS_CONTROL_TOKEN: service.ready.controlToken } });
  const target = () => ['--target', service.ready.urls.events];
  const run = async (...args: string[]) =>
    (await rewardsJson(['perks', ...args, ...target()], around())).envelope;
  const say = async (...args: string[]) => (await rewards(['perks', ...args, ...target()], around())).stdout;
  const onChain = (tokenId: number) =>
    service.chain.readContract({
      address: service.ready.contracts.perks as `0x${string}`,
      abi: perkNFTAbi,
      functionName: 'perkOf',
      args: [BigInt(tokenId)],
    });
  /** Adds a perk and waits until the contract knows it. */
  const added = async (...args: string[]) => {
    const { data, error } = await run('add', service.brand.brandId, ...args);
    expect(error).toBeUndefined();
    await told(data.body.tokenId);
    return data.body;
  };
  const told = (tokenId: number) =>
    until(`the contract knows perk ${tokenId}`, async () => {
      const { data } = await run('list');
      return (
        data.body.perks.find((one: { tokenId: number }) => one.tokenId === tokenId)?.terms === 'on_chain'
      );
    });

  test('a fixture’s perks are on chain with their terms when the stack is ready', async () => {
    const { data } = await run('list', '--brand', 'demo.example');
    expect(data.body.perks).toHaveLength(5);
    for (const { tokenId, cost, terms } of data.body.perks) {
      expect(terms).toBe('on_chain');
      expect(await onChain(tokenId)).toMatchObject({ price: BigInt(cost), active: true });
    }
    expect((await onChain(5)).stock).toBe(2n);
    expect(await say('list')).toContain('2 in all');
  });

  test('redemptions are listed with user, perk, cost, code and transaction, newest first', async () => {
    expect((await run('redemptions', '--brand', 'demo.example')).data.body.redemptions).toEqual([]);
    expect(await say('redemptions')).toContain('nothing redeemed yet');
    const redeemed = [];
    for (let n = 0; n < 2; n++) {
      const { email, wallet } = await personWith(service, WALLPAPERS.cost);
      const { body } = await service.post('/perks/redeem', redeemBody(service, email, WALLPAPERS.id));
      redeemed.unshift({ email, wallet, ...body });
    }
    const [newest] = redeemed;
    const use = { brandId: service.brand.brandId, code: newest.confirmationCode };
    const key = { authorization: `Bearer ${service.brand.apiKey}` };
    expect((await service.post('/perks/use-code', use, key)).status).toBe(200);
    const { data } = await run('redemptions', '--brand', 'demo.example');
    expect(data.body.redemptions).toEqual(
      redeemed.map(({ email, wallet, redemptionId, confirmationCode, transactionHash }, place) => ({
        id: redemptionId,
        brandId: service.brand.brandId,
        perkId: WALLPAPERS.id,
        perkName: WALLPAPERS.name,
        user: email,
        wallet: wallet.toLowerCase(),
        cost: 50,
        consent: 'grant',
        confirmationCode,
        state: place === 0 ? 'used' : 'valid',
        failure: null,
        transactionHash,
        refusals: 0,
        refusal: null,
        nextTryAt: null,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        usedAt: place === 0 ? expect.stringMatching(/^\d{4}-.*Z$/) : null,
      })),
    );
    const lines = (await say('redemptions', '--limit', '1')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${newest.confirmationCode}  used`);
    expect((await run('redemptions', '--brand', 'nobody.example')).error?.code).toBe('E_REFUSED');
    expect(JSON.stringify((await run('redemptions', '--limit', '501')).error)).toContain('500');
  });

  test('redeem spends on the user’s own word with --as or --token, and else what the brand has paid', async () => {
    const { brandId } = service.brand;
    const perk = WALLPAPERS.name;
    const user = 'carol@demo.example';
    const { body } = await service.control('/tokens', { user });
    await mintTo(service, body.address, 4 * WALLPAPERS.cost);
    const redeem = (...args: string[]) => run('redeem', user, perk, '--brand', brandId, ...args);
    const alone = await redeem('--expect', '403:consent_required');
    expect([alone.ok, alone.data.body.details]).toMatchObject([true, { collectable: 0 }]);
    const own = [await redeem('--as', 'carol@demo.example'), await redeem('--token', body.token)];
    expect(own.map(({ data }) => data.body.success)).toEqual([true, true]);
    expect((await redeem('--as', 'bob@demo.example')).error.code).toBe('E_REFUSED');
    const both = await redeem('--as', 'carol@demo.example', '--token', body.token);
    expect(both.error.code).toBe('E_USAGE');
    const { redemptions } = (await run('redemptions', '--limit', '2')).data.body;
    expect(redemptions.map(({ consent }: { consent: string }) => consent)).toEqual(['token', 'token']);
  });

  test('the demo has a perk that asks more of its buyer than its price', async () => {
    const { data } = await run('list');
    const asking = data.body.perks.filter(
      ({ constraints }: { constraints: unknown[] }) => constraints.length > 0,
    );
    expect(asking).toMatchObject([
      { name: 'Hooded sweater', constraints: [{ type: 'chat_level', platform: 'discord', level: 5 }] },
    ]);
  });

  test('a perk that is added gets the next token, and is sold by the contract for its cost', async () => {
    const perk = await added(
      ...['--perk-name', 'Tote bag', '--category', 'physical', '--cost', '300', '--stock', '20'],
      ...[
        '--description',
        'Cotton.',
        '--metadata',
        '{"litres":12}',
        '--image',
        'https://shop.example/tote.png',
      ],
    );
    expect(perk).toMatchObject({ tokenId: 6, stock: 20, active: true, failure: null });
    expect(await onChain(6)).toEqual({
      price: 300n,
      stock: 20n,
      active: true,
      brand: expect.stringMatching(new RegExp(service.brand.brandId, 'i')),
    });
    const { body } = await service.request(`/perks/${service.brand.brandId}`);
    expect(body.perks.at(-1)).toMatchObject({
      id: perk.id,
      name: 'Tote bag',
      description: 'Cotton.',
      cost: 300,
      available: 20,
      category: 'physical',
      image: 'https://shop.example/tote.png',
      metadata: { litres: 12 },
    });
  });

  test('price and sale are changed on chain, and what a perk is at once', async () => {
    const { tokenId } = await added('--perk-name', 'Cap', '--category', 'physical', '--cost', '40');
    const { data } = await run('set', `${tokenId}`, 'cost=45', 'active=off', 'name=Red cap');
    expect(data.body).toMatchObject({ cost: 45, active: false, name: 'Red cap', terms: 'waiting' });
    await told(tokenId);
    expect(await onChain(tokenId)).toMatchObject({ price: 45n, active: false });
    const listed = async (query: string) =>
      (await service.request(`/perks/${service.brand.brandId}${query}`)).body.perks.find(
        (one: { tokenId: number }) => one.tokenId === tokenId,
      );
    expect(await listed('')).toBeUndefined();
    expect(await listed('?activeOnly=false')).toMatchObject({ active: false, available: 0 });
  });

  test('what is sold between a restock and its block stays sold', async () => {
    const { tokenId } = await added(
      ...['--perk-name', 'Print', '--category', 'physical', '--cost', '10', '--stock', '2'],
    );
    await buyPerk(service, { tokenId, cost: 10 });
    await Promise.all([run('set', `${tokenId}`, 'restock=3'), run('set', `${tokenId}`, 'restock=1')]);
    await told(tokenId);
    expect((await onChain(tokenId)).stock).toBe(5n);
    const { data } = await run('set', `${tokenId}`, 'stock=3');
    expect(data.body.stock).toBe(3);
    await told(tokenId);
    expect((await onChain(tokenId)).stock).toBe(2n);
  });

  test('a stock below what is sold is refused by the contract, and the catalogue says what it sells', async () => {
    const { tokenId } = await added(
      ...['--perk-name', 'Mat', '--category', 'physical', '--cost', '10', '--stock', '2'],
    );
    await buyPerk(service, { tokenId, cost: 10 });
    await buyPerk(service, { tokenId, cost: 10 });
    await run('set', `${tokenId}`, 'stock=1');
    const state = async () =>
      (await run('list')).data.body.perks.find((one: { tokenId: number }) => one.tokenId === tokenId);
    await until('the contract has refused it', async () => (await state()).terms === 'failed');
    expect(await state()).toMatchObject({ stock: 2, failure: expect.stringMatching(/^StockNotChangeable/) });
    expect(await say('list')).toContain('the contract refuses it');
  });

  test('a stock may become unlimited and limited again', async () => {
    const { tokenId } = await added(
      ...['--perk-name', 'Pin', '--category', 'physical', '--cost', '10', '--stock', '2'],
    );
    await run('set', `${tokenId}`, 'stock=unlimited');
    await told(tokenId);
    expect((await onChain(tokenId)).stock).toBe(2n ** 256n - 1n);
    expect((await run('set', `${tokenId}`, 'restock=1')).error.message ?? '').toBe('Invalid settings');
    await run('set', `${tokenId}`, 'stock=4');
    await told(tokenId);
    expect((await onChain(tokenId)).stock).toBe(4n);
  });

  test.each([
    [
      'a setting that there is not',
      ['set', '1', 'colour=red'],
      /colour is not a setting of a perk; the settings are/,
    ],
    [
      'a cost that is none',
      ['set', '1', 'cost=free'],
      /cost must be a whole number of RWT, 1 or more, not "free"/,
    ],
    ['a perk that there is not', ['set', '999', 'cost=1'], /Perk not found: 999/],
    [
      'both ways to say a stock',
      ['set', '5', 'stock=3', 'restock=1'],
      /restock adds to the stock, which is given too; leave one of them out/,
    ],
    [
      'a constraint that is none',
      [
        'add',
        'demo.example',
        '--perk-name',
        'X',
        '--category',
        'digital',
        '--cost',
        '1',
        '--constraint',
        '{"type":"age"}',
      ],
      /constraints.0.* must be a map with the type external_api/,
    ],
    [
      'the token of another perk',
      ['add', 'demo.example', '--perk-name', 'X', '--category', 'digital', '--cost', '1', '--token-id', '5'],
      /tokenId is that of perk 29fdd1ed-ecad-462e-abb1-d2f25b86fad2; give another one/,
    ],
    [
      'a brand that there is not',
      ['add', 'nobody.example', '--perk-name', 'X', '--category', 'digital', '--cost', '1'],
      /Brand not found: nobody.example/,
    ],
  ])('%s is refused, with what to do', async (_, args, text) => {
    const { error } = await run(...args);
    expect(error.code).toBe('E_REFUSED');
    expect(`${error.message} ${error.hint}`).toMatch(text);
  });
});
