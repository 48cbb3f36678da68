/** What users with a token, and nothing else, try with other people's gas. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../../src/ledger/database/postgres.ts';
import { openSqlite } from '../../../src/ledger/database/sqlite.ts';
import { brandDomains } from '../../../src/ledger/schema/brands.ts';
import { gasMaxOf } from '../../../src/rules/relay-policy.ts';
import { type RelayKit, startRelayKit } from '../../kits/chain/wallet.ts';
import { databaseKinds } from '../../kits/databases/databases.ts';
import { type LedgerReader, readLedger } from '../../reliability/processes/ledger-reader.ts';

/**
 * A wallet with code that burns the gas of the call it is told of: it loops while more than 20,480 gas are left, then
 * answers as an ERC-1155 receiver must.
 */
const BURNER = '0x5b5a6150001060005763f23a6e6160e01b60005260206000f3';
const ORIGIN = { origin: 'https://demo.example' };

describe.each(databaseKinds)("other people's gas (on $kind)", ({ open }) => {
  let kit: RelayKit;
  let ledger: LedgerReader;
  let databaseUrl: string | undefined;
  const stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const database = await open();
    stops.push(database.stop);
    databaseUrl = database.databaseUrl;
    kit = await startRelayKit({ databaseUrl });
    stops.push(kit.stop);
    ledger = readLedger({ dataDir: kit.ready.dataDir, databaseUrl });
    stops.push(ledger.close);
    expect((await kit.event({ userEmail: kit.users.alice.email })).status).toBe(200);
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  const walletOf = async (): Promise<string> =>
    (await kit.request(`${kit.ready.urls.control}/brands/${kit.brand.brandId}`)).body.gasWallet.address;
  const spentByService = () => ledger.gas({ payer: 'service' });
  /** A day on which nothing is spent yet of what the brand gives. */
  const nextDay = async (gasBudget: string) => {
    expect((await kit.change(`/brands/${kit.brand.brandId}`, { gasBudget })).status).toBe(200);
    await kit.advance('25h');
  };

  test('a made-up Origin spends no gas of that brand; of a brand that rewarded the user it does', async () => {
    const { alice, bob } = kit.users;
    const payer = kit.brand.brandId;
    const brandWallet = await walletOf();
    const known = await kit.relay(alice, await kit.transfer(alice, bob.address, 5n), ORIGIN);
    expect([known.status, known.body.from]).toEqual([200, brandWallet]);
    const spent = await ledger.gas({ payer });
    expect(spent).toBeGreaterThan(0);

    const stranger = await kit.relay(bob, await kit.transfer(bob, alice.address), ORIGIN);
    expect(stranger.status).toBe(200);
    expect(stranger.body.from).not.toBe(brandWallet);
    expect(await ledger.gas({ payer })).toBe(spent);
    expect(await ledger.gas({ payer: 'service' })).toBeGreaterThan(0);
    // A brand that does not know the page pays for nobody there either.
    const elsewhere = { origin: 'http://localhost' };
    expect((await kit.relay(alice, await kit.transfer(alice, bob.address), elsewhere)).body.from).not.toBe(
      brandWallet,
    );
  }, 60_000);

  test('a page below domains of two brands: the brand of the nearest domain pays, where it knows the user', async () => {
    const { alice, bob } = kit.users;
    const origin = { origin: 'https://www.near.demo.example' };
    const pay = async () =>
      (await kit.relay(alice, await kit.transfer(alice, bob.address, 1n), origin)).status;
    const before = await ledger.gas({ payer: kit.brand.brandId });
    expect(await pay()).toBe(200);
    const [spent, ofService] = [await ledger.gas({ payer: kit.brand.brandId }), await spentByService()];
    expect(spent).toBeGreaterThan(before);
    // As ledgers have it from before such domains were refused.
    const behind = databaseUrl
      ? openPostgres(databaseUrl)
      : openSqlite(join(kit.ready.dataDir, 'ledger.sqlite'));
    const brandId = `0x${'7'.repeat(40)}` as const;
    await behind.db.insert(brandDomains).values({ brandId, domain: 'near.demo.example', source: 'dns' });
    await behind.close();
    expect(await pay()).toBe(200);
    expect(await ledger.gas({ payer: kit.brand.brandId })).toBe(spent);
    expect(await spentByService()).toBeGreaterThan(ofService);
  }, 60_000);

  test("a user whose wallet the brand asked for with its key is known to it; anybody's word is not", async () => {
    const { alice, bob } = kit.users;
    const { brandId, apiKey } = kit.brand;
    expect((await kit.relay(alice, await kit.transfer(alice, bob.address, 9n))).status).toBe(200);
    const asked = { brand_id: brandId, email: bob.email };
    const path = `${kit.ready.urls.register}/rewards-api/pregenerate-user`;
    const payerOf = async () =>
      (await kit.relay(bob, await kit.transfer(bob, alice.address), ORIGIN)).body.from;
    expect((await kit.post(path, asked)).status).toBe(200);
    expect(await payerOf()).not.toBe(await walletOf());
    expect((await kit.post(path, asked, { authorization: `Bearer ${apiKey}` })).status).toBe(200);
    expect(await payerOf()).toBe(await walletOf());
  }, 60_000);

  test('calls that offer 1,000,000 gas do not lock others out of the budget', async () => {
    // Of 20 million gas at the kit's prices; a call takes less than 0.1.
    await nextDay('0.02');
    const { alice, bob } = kit.users;
    const greedy = () => kit.relay(alice, { ...kit.purchase(alice.address), gasLimit: 1_000_000 });
    const statuses = (await Promise.all(Array.from({ length: 30 }, greedy))).map(({ status }) => status);
    // Each reserves what it needs, and not more than the user's twentieth in all.
    expect(statuses).toContain(200);
    const refused = await greedy();
    if (refused.status !== 200) expect(refused.body.details.reason).toBe('gas_share');
    expect((await kit.relay(bob, kit.purchase(bob.address))).status).toBe(200);
    const { gas } = await kit.chain.getTransaction({
      hash: (await kit.relay(bob, { ...kit.purchase(bob.address), gasLimit: 1_000_000 })).body
        .transactionHash,
    });
    expect(gas).toBeLessThan(100_000n);
  }, 60_000);

  test("a user's share of the budget: at least one call, then 5 % of it", async () => {
    await nextDay('0.002');
    const { alice, bob } = kit.users;
    const payer = kit.brand.brandId;
    const [all, ofAlice] = [{ payer }, { payer, userAddress: alice.address }];
    const before = [await ledger.gas(all), await ledger.gas(ofAlice)];
    const buy = () => kit.relay(alice, kit.purchase(alice.address));
    expect((await buy()).status).toBe(200);
    const answers = [await buy(), await buy(), await buy()];
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.body.code, refused?.body.details.reason]).toEqual([
      429,
      'GAS_BUDGET_EXCEEDED',
      'gas_share',
    ]);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    const [spent = 0, share = 0] = [await ledger.gas(all), await ledger.gas(ofAlice)];
    expect(spent - (before[0] ?? 0)).toBe(share - (before[1] ?? 0));
    expect((await kit.relay(bob, kit.purchase(bob.address))).status).toBe(200);
    await kit.advance('25h');
    expect((await buy()).status).toBe(200);
  }, 60_000);

  test('a wallet with code that burns all gas it gets: not paid for, however much it offers', async () => {
    const { carol } = kit.users;
    await kit.chain.request({ method: 'anvil_setCode', params: [carol.address, BURNER] } as never);
    const gasMax = gasMaxOf('perks', 'purchaseFor(address,uint256,uint256)');
    for (const gasLimit of [undefined, 1_000_000, gasMax]) {
      const { status, body } = await kit.relay(carol, { ...kit.purchase(carol.address), gasLimit });
      expect([status, body.code, body.details.reason]).toEqual([
        403,
        'VALIDATION_FAILED',
        'needs_too_much_gas',
      ]);
      expect(body.details.gasMax).toBe(gasMax);
    }
    const { body } = await kit.relay(carol, { ...kit.purchase(carol.address), gasLimit: 150_000 });
    expect(Number(body.gasUsed ?? 0)).toBeLessThanOrEqual(150_000);
  }, 60_000);

  test('transfers of nothing and to oneself are not paid for', async () => {
    const { alice, bob } = kit.users;
    const nothing = await kit.relay(alice, await kit.transfer(alice, bob.address, 0n));
    expect([nothing.status, nothing.body.details.reason, nothing.body.details.because]).toEqual([
      403,
      'moves_nothing',
      'zero_amount',
    ]);
    const inCircles = await kit.relay(alice, await kit.transfer(alice, alice.address, 5n));
    expect([inCircles.status, inCircles.body.details.reason, inCircles.body.details.because]).toEqual([
      403,
      'moves_nothing',
      'to_self',
    ]);
  }, 60_000);
});
