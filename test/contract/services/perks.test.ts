/** GET perks: the catalogue of a brand, with what can still be had of each perk. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buyPerk, perkCall } from '../../kits/chain/perks.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { startTestService, type TestService } from '../../kits/service/service.ts';

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
  const ask = (query = '', brandId = service.brand.brandId) => service.request(`/perks/${brandId}${query}`);
  test('the perks of a fixture are listed in the order of their tokens, with everything that clients read', async () => {
    const { status, body } = await ask();
    expect([status, body.success]).toEqual([200, true]);
    expect(body.perks.map(({ tokenId }: { tokenId: number }) => tokenId)).toEqual([1, 2, 3, 4, 5]);
    expect(body.perks[1]).toEqual({
      id: 'e1b0086d-ebab-4909-9d31-744384225728',
      name: 'Ten percent off',
      description: 'A voucher for the next order.',
      cost: 250,
      available: 999_999,
      category: 'digital',
      image: null,
      metadata: { discountPercent: 10 },
      active: true,
      tokenId: 2,
    });
    expect(body.perks[4].available).toBe(2);
  });

  test('a category is asked for by its name, all by leaving it out', async () => {
    const names = async (query: string) =>
      (await ask(query)).body.perks.map(({ name }: { name: string }) => name);
    expect(await names('?category=physical&activeOnly=true')).toEqual(['Enamel mug', 'Hooded sweater']);
    expect(await names('?category=all')).toHaveLength(5);
    expect(await names('?activeOnly=false')).toHaveLength(5);
  });

  test('what is left is what the chain says', async () => {
    const perk = [5n, 2_000n, 1n, service.brand.brandId, true];
    await perkCall(service, 'setPerk', perk);
    expect((await ask()).body.perks[4].available).toBe(1);
    await perkCall(service, 'setPerk', perk.with(2, 0n));
    expect((await ask()).body.perks[4].available).toBe(0);
  });

  test('with a wallet, each perk says how many of it the wallet holds', async () => {
    const walletAddress = await buyPerk(service, { tokenId: 1, cost: 50 });
    const { body } = await ask(`?userAddress=${walletAddress}&category=digital`);
    expect(body.perks.map(({ held }: { held: number }) => held)).toEqual([1, 0]);
    expect((await ask()).body.perks[0]).not.toHaveProperty('held');
  });

  test.each([
    ['a category that there is not', '?category=cars', /^category: must be all or one of digital, physical/],
    ['a switch that is none', '?activeOnly=perhaps', /^activeOnly: must be true or false/],
    ['a wallet that is none', '?userAddress=0x12', /^userAddress: must be an address/],
  ])('%s: 400 that names the field', async (_, query, problem) => {
    const { status, body } = await ask(query);
    expect([status, body.error]).toEqual([400, 'Invalid request']);
    expect(body.details.errors).toEqual([expect.stringMatching(problem)]);
  });

  test('what wallets show of a token is the metadata of ERC-1155, also of a perk that cannot be had', async () => {
    const { brandId } = service.brand;
    const inFile = (token: number) => `/perks/metadata/${token.toString(16).padStart(64, '0')}.json`;
    const picture = 'https://demo.example/mug.png';
    expect((await service.change('/perks/3', { active: false, image: picture })).status).toBe(200);
    const { status, headers, body } = await service.request(inFile(2));
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'public, max-age=300',
    ]);
    expect(body).toEqual({
      name: 'Ten percent off',
      description: 'A voucher for the next order.',
      decimals: 0,
      properties: {
        brandId,
        perkId: 'e1b0086d-ebab-4909-9d31-744384225728',
        category: 'digital',
        cost: 250,
        metadata: { discountPercent: 10 },
      },
    });
    expect((await service.request(inFile(3))).body.image).toBe(picture);
    await service.change('/perks/3', { active: true });
    const unknown = await service.request(inFile(99));
    expect([unknown.status, unknown.body.details]).toEqual([404, { reason: 'perk_token_unknown' }]);
    const beyond = await service.request(`/perks/metadata/${'f'.repeat(64)}.json`);
    expect(beyond.body.details).toEqual({ reason: 'perk_token_unknown' });
    for (const file of ['2.json', '0'.repeat(64), `0x${'0'.repeat(62)}.json`])
      expect((await service.request(`/perks/metadata/${file}`)).body.details.errors).toEqual([
        'file: must be a token as 64 hex digits, and .json',
      ]);
  });

  test('an unknown brand: 400', async () => {
    const { status, body } = await ask('', `0x${'9'.repeat(40)}`);
    expect([status, body.error]).toEqual([400, `Brand not found: 0x${'9'.repeat(40)}`]);
  });
});
